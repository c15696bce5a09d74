/*
 * Data types as Arrow's IPC metadata says them: a tag in the union Type and a table of parameters. For the IPC files
 * only. Types that type.h does not have (unions, 256-bit decimals, run-end encoding…) are NOT_IMPLEMENTED by name.
 */
#ifndef KITH_COLUMNAR_IPC_TYPE_H
#define KITH_COLUMNAR_IPC_TYPE_H

#include "columnar/flatbuf_reader.h"
#include "columnar/flatbuf_writer.h"
#include "columnar/ipc_format.h"
#include "columnar/type.h"

/* The type of the values; dictionary encoding is the field's. */
kith_error *ipc_type_write(struct flatbuf_writer *writer, const struct data_type *type, enum ipc_type *out_tag,
                           flatbuf_ref *out_table) _must_check_;
/* The table Int of an integer type, which also says a dictionary's index type. */
kith_error *ipc_type_write_int(struct flatbuf_writer *writer, enum type_id id, flatbuf_ref *out) _must_check_;

/* `tag` and `table` as found. */
kith_error *ipc_type_read(int64_t tag, const struct flatbuf_table *table, struct data_type *out) _must_check_;
kith_error *ipc_type_read_int(const struct flatbuf_table *table, enum type_id *out) _must_check_;

#endif
