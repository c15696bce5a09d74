/*
 * Arrow's C data interface: batches and schemas in and out without copying. Export keeps references until the
 * consumer calls release; import moves the structure in and releases it with the last reference to its buffers.
 * Imported arrays are checked for what can be checked without trusting lengths (types, counts, NULL pointers); offsets
 * are validated by array_validate when `validate` is set. Memory that is not aligned to 8 bytes is copied.
 */
#ifndef KITH_COLUMNAR_C_DATA_H
#define KITH_COLUMNAR_C_DATA_H

#include "columnar/batch.h"
#include "kith/arrow_c.h"

kith_error *c_data_export_schema(const struct schema *schema, struct ArrowSchema *out) _must_check_;
/* Compacts a selection first, and decodes columns that are encoded where the schema says they are not. On error nothing
 * is left in `out` to release. */
kith_error *c_data_export_batch(struct batch *batch, struct ArrowArray *out) _must_check_;
kith_error *c_data_import_schema(const struct ArrowSchema *schema, struct schema **out) _must_check_;
/* `take_array` is moved from (its release becomes NULL) on success and on error alike. */
kith_error *c_data_import_batch(struct ArrowArray *take_array, struct schema *schema, bool validate,
                                struct batch **out) _must_check_;

/* A pull source behind ArrowArrayStream. `next` gives *out = NULL at the end; `free` is called once by release. */
struct c_stream_source {
    struct schema *schema; /* borrowed until free */
    kith_error *(*next)(void *context, struct batch **out);
    void (*free)(void *context);
    void *context;
};
kith_error *c_data_export_stream(const struct c_stream_source *source, struct ArrowArrayStream *out) _must_check_;

/* Pulls batches out of another library's stream. Belongs to one fiber; the stream's callbacks run on it and may block.
 */
struct c_stream_reader;
/* `take_stream` is moved from (its release becomes NULL) on success and on error alike. */
kith_error *c_data_import_stream(struct ArrowArrayStream *take_stream, bool validate,
                                 struct c_stream_reader **out) _must_check_;
struct schema *c_stream_reader_schema(const struct c_stream_reader *reader); /* borrowed */
/* *out = NULL at the end, and after an error. */
kith_error *c_stream_reader_next(struct c_stream_reader *reader, struct batch **out) _must_check_;
void c_stream_reader_free(struct c_stream_reader *reader);
DEFINE_CLEANUP(c_stream_reader_free, struct c_stream_reader)

#endif
