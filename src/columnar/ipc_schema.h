/*
 * Schemas as Arrow's IPC metadata says them, both ways: fields with names, types, nullability, dictionary encoding,
 * children and custom metadata, and the schema's own. For the IPC files only. Big-endian streams are NOT_IMPLEMENTED.
 */
#ifndef KITH_COLUMNAR_IPC_SCHEMA_H
#define KITH_COLUMNAR_IPC_SCHEMA_H

#include "columnar/flatbuf_reader.h"
#include "columnar/flatbuf_writer.h"
#include "columnar/schema.h"

/* The table Schema. Dictionary-encoded column i has dictionary id i. */
kith_error *ipc_schema_write(struct flatbuf_writer *writer, const struct schema *schema, flatbuf_ref *out) _must_check_;

/* *out_dictionary_ids (free()) has an id for every column that is dictionary-encoded; other elements mean nothing. */
kith_error *ipc_schema_read(const struct flatbuf_table *table, struct schema **out,
                            int64_t **out_dictionary_ids) _must_check_;

#endif
