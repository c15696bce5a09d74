/*
 * The steps of parquet_metadata_parse, shared by its files: the flattened schema tree (metadata_schema.c), what its
 * annotations mean (metadata_type.c), row groups and column chunks (metadata_chunk.c). Everything they keep goes into
 * the metadata's arena; strings of the input are copied.
 */
#ifndef KITH_PARQUET_METADATA_PARSE_H
#define KITH_PARQUET_METADATA_PARSE_H

#include "parquet/schema_element.h"
#include "parquet/thrift_reader.h"

struct metadata_parser {
    struct thrift_reader reader;
    struct parquet_metadata *metadata;
    uint64_t data_end; /* where the footer begins: no page lies past it */
};

/* metadata_schema.c: reads the list of schema elements and makes metadata->columns from it. */
kith_error *metadata_read_schema(struct metadata_parser *parser, const struct thrift_field *field) _must_check_;

/* metadata_type.c: the annotation that is nearest to a ConvertedType; a number that the format has not is CORRUPT. */
kith_error *annotation_read_converted(struct thrift_reader *reader, const struct thrift_field *field,
                                      struct annotation *out) _must_check_;
kith_error *annotation_read_logical(struct thrift_reader *reader, const struct thrift_field *field,
                                    struct annotation *out) _must_check_;

/* metadata_chunk.c: reads the list of row groups, each checked against the columns. */
kith_error *metadata_read_row_groups(struct metadata_parser *parser, const struct thrift_field *field) _must_check_;

#endif
