#include "parquet/metadata.h"

#include "base/alloc.h"
#include "parquet/metadata_parse.h"
#include "runtime/coop.h"

#include <string.h>

enum { TAIL_BYTES = 8 }; /* the footer's length and the magic, behind it */

enum { ENTRIES_A_CHARGE = 1024 }; /* of short lists */

static kith_error *read_key_value(struct metadata_parser *parser, struct key_value *out)
{
    struct thrift_reader *reader = &parser->reader;
    struct thrift_field field = {0};
    struct str key = {"", 0}, value = {"", 0};
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 1)
            TRY(thrift_read_binary(reader, &field, &key));
        else if (field.id == 2)
            TRY(thrift_read_binary(reader, &field, &value));
        else
            TRY(thrift_skip(reader, &field));
    }
    TRY(arena_string(&parser->metadata->arena, key.data, key.length, &out->key));
    return arena_string(&parser->metadata->arena, value.data, value.length, &out->value);
}

static kith_error *read_key_values(struct metadata_parser *parser, const struct thrift_field *field)
{
    struct parquet_metadata *metadata = parser->metadata;
    size_t count;
    TRY(thrift_read_list(&parser->reader, field, THRIFT_STRUCT, &count));
    TRY(ARENA_NEW_ARRAY(&metadata->arena, &metadata->key_values, count));
    metadata->key_value_count = 0;
    for (size_t i = 0; i < count; i++) {
        TRY(read_key_value(parser, &metadata->key_values[metadata->key_value_count++]));
        TRY(coop_charge_every(ENTRIES_A_CHARGE, i));
    }
    return NULL;
}

/* Members of the ColumnOrder union; 0 where the file gives none. INT96's order is not used. */
enum column_order { ORDER_ABSENT = 0, ORDER_TYPE = 1, ORDER_IEEE_754_TOTAL = 2, ORDER_UNKNOWN };

static kith_error *read_column_order(struct thrift_reader *reader, enum column_order *out)
{
    struct thrift_field field = {0};
    *out = ORDER_UNKNOWN;
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return NULL;
        if (field.id == ORDER_TYPE || field.id == ORDER_IEEE_754_TOTAL)
            *out = (enum column_order)field.id;
        TRY(thrift_skip(reader, &field));
    }
}

static void apply_order(struct parquet_column *column, enum column_order order)
{
    switch (order) {
    case ORDER_TYPE:
        return;
    case ORDER_IEEE_754_TOTAL:
        column->order_defined = column->order_defined && type_is_float(column->type.id);
        return;
    case ORDER_ABSENT:
        /* Undefined by the letter. Of signed numbers there was never but one order; of strings and unsigned
         * numbers, two were in use. */
        column->order_defined = column->order_defined && column->legacy_order_defined;
        return;
    case ORDER_UNKNOWN:
        column->order_defined = false;
        return;
    }
}

/* `field` is NULL when the file has no column orders. A list that is not one order a column says nothing. */
static kith_error *read_column_orders(struct metadata_parser *parser, const struct thrift_field *field)
{
    struct parquet_metadata *metadata = parser->metadata;
    size_t count = 0;
    if (field != NULL)
        TRY(thrift_read_list(&parser->reader, field, THRIFT_STRUCT, &count));
    for (size_t i = 0; i < MAX(count, metadata->column_count); i++) {
        enum column_order order = ORDER_ABSENT;
        if (i < count)
            TRY(read_column_order(&parser->reader, &order));
        if (count != 0 && count != metadata->column_count)
            order = ORDER_UNKNOWN;
        if (i < metadata->column_count)
            apply_order(&metadata->columns[i], order);
        TRY(coop_charge_every(ENTRIES_A_CHARGE, i));
    }
    return NULL;
}

/* Fields that can only be understood after others: every writer puts those first, but the protocol does not. */
struct later_fields {
    struct thrift_reader row_groups_at, orders_at;
    struct thrift_field row_groups, orders; /* THRIFT_STOP where the footer has none */
};

static kith_error *read_fields(struct metadata_parser *parser, struct later_fields *later)
{
    struct thrift_reader *reader = &parser->reader;
    struct parquet_metadata *metadata = parser->metadata;
    struct thrift_field field = {0};
    struct str created_by;
    char *text;
    bool has_rows = false;
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        switch (field.id) {
        case 1:
            TRY(thrift_read_i32(reader, &field, &metadata->version));
            break;
        case 2:
            TRY(metadata_read_schema(parser, &field));
            break;
        case 3:
            TRY(thrift_read_i64(reader, &field, &metadata->row_count));
            has_rows = true;
            break;
        case 4:
            later->row_groups = field;
            later->row_groups_at = *reader;
            if (metadata->columns != NULL && has_rows)
                TRY(metadata_read_row_groups(parser, &field));
            else
                TRY(thrift_skip(reader, &field));
            break;
        case 5:
            TRY(read_key_values(parser, &field));
            break;
        case 6:
            TRY(thrift_read_binary(reader, &field, &created_by));
            TRY(arena_string(&metadata->arena, created_by.data, created_by.length, &text));
            metadata->created_by = text;
            break;
        case 7:
            later->orders = field;
            later->orders_at = *reader;
            TRY(thrift_skip(reader, &field));
            break;
        default:
            TRY(thrift_skip(reader, &field));
        }
    }
    if (metadata->columns == NULL || !has_rows || metadata->row_count < 0 || later->row_groups.type == THRIFT_STOP)
        return thrift_corrupt(reader, "it lacks a schema, row groups or a valid number of rows");
    return NULL;
}

kith_error *parquet_metadata_parse(const char *name, const uint8_t *bytes, size_t length, uint64_t file_size,
                                   struct parquet_metadata **out)
{
    if (file_size < TAIL_BYTES || length > file_size - TAIL_BYTES)
        return error_new(KITH_ERROR_CORRUPT, "%s: a footer of %zu bytes does not fit a file of %llu", name, length,
                         (unsigned long long)file_size);
    _cleanup_(parquet_metadata_free) struct parquet_metadata *metadata = NULL;
    TRY(NEW(&metadata));
    uint64_t start = file_size - TAIL_BYTES - length;
    struct metadata_parser parser = {
        .reader = thrift_reader_make(name, "footer", bytes, length, start),
        .metadata = metadata,
        .data_end = start,
    };
    struct later_fields later = {0};
    TRY(read_fields(&parser, &later));
    parser.reader = later.row_groups_at;
    if (metadata->row_groups == NULL)
        TRY(metadata_read_row_groups(&parser, &later.row_groups));
    parser.reader = later.orders_at;
    TRY(read_column_orders(&parser, later.orders.type == THRIFT_STOP ? NULL : &later.orders));
    *out = TAKE(metadata);
    return NULL;
}

void parquet_metadata_free(struct parquet_metadata *metadata)
{
    if (metadata == NULL)
        return;
    while (arena_free_some(&metadata->arena))
        coop_give_way(1);
    free(metadata);
}
