/*
 * Types and schemas as DataFusion's ArrowType, Field and Schema. Messages are made in an arena and borrow what they can
 * from what they were made of.
 *
 * Decoding refuses with NOT_IMPLEMENTED, by name, the types that type.h does not have, and with CORRUPT those whose
 * parameters are out of range. Whether a dictionary is ordered does not travel.
 */
#ifndef KITH_WIRE_TYPE_CODEC_H
#define KITH_WIRE_TYPE_CODEC_H

#include "base/arena.h"
#include "columnar/schema.h"

#include "datafusion_common.pb-c.h"

/* Flat types only: a nested one has children, which are its field's. */
kith_error *type_encode(const struct data_type *type, struct arena *arena,
                        DatafusionCommon__ArrowType **out) _must_check_;
kith_error *type_decode(const DatafusionCommon__ArrowType *message, struct data_type *out) _must_check_;

kith_error *schema_encode(const struct schema *schema, struct arena *arena,
                          DatafusionCommon__Schema **out) _must_check_;
/* NULL for `message` is CORRUPT: `what` says whose schema is missing. */
kith_error *schema_decode(const DatafusionCommon__Schema *message, const char *what, struct schema **out) _must_check_;

/* Whether `id` can be the value type of a literal, a bound or a cast: flat. */
kith_error *type_require_flat(const struct data_type *type) _must_check_;

#endif
