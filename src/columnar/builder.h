/*
 * Builders: arrays made value by value. For tests, literals, and results whose size is not known; kernels and decoders
 * fill buffers themselves.
 */
#ifndef KITH_COLUMNAR_BUILDER_H
#define KITH_COLUMNAR_BUILDER_H

#include "columnar/array.h"
#include "columnar/scalar.h"

struct array_builder;

/* Not for dictionary-encoded or nested types. */
kith_error *array_builder_new(const struct data_type *type, struct array_builder **out) _must_check_;
void array_builder_free(struct array_builder *builder);
DEFINE_CLEANUP(array_builder_free, struct array_builder)

kith_error *array_builder_append(struct array_builder *builder, const struct scalar *value) _must_check_;
kith_error *array_builder_append_null(struct array_builder *builder) _must_check_;
/* For integers, dates, times, timestamps and DECIMAL64. */
kith_error *array_builder_append_int(struct array_builder *builder, int64_t value) _must_check_;
kith_error *array_builder_append_double(struct array_builder *builder, double value) _must_check_;
kith_error *array_builder_append_string(struct array_builder *builder, struct str value) _must_check_;

/* Gives the array and leaves the builder empty. */
kith_error *array_builder_finish(struct array_builder *builder, struct array **out) _must_check_;

#endif
