#include "base/limits.h"
#include "base/vec.h"
#include "columnar/utf8.h"
#include "parquet/metadata_parse.h"
#include "runtime/coop.h"

#include <string.h>

static kith_error *read_enum(struct thrift_reader *reader, const struct thrift_field *field, int32_t count,
                             const char *what, int32_t *out)
{
    TRY(thrift_read_i32(reader, field, out));
    if (*out < 0 || *out >= count)
        return thrift_corrupt(reader, "%d is no %s that the format has", *out, what);
    return NULL;
}

/* The logical type wins over the converted one, whatever their order. */
static void choose_annotation(struct schema_element *element, const struct annotation *converted,
                              const struct annotation *logical, int32_t precision, int32_t scale)
{
    element->annotation = *converted;
    if (converted->kind == ANNOTATION_DECIMAL) {
        element->annotation.precision = precision;
        element->annotation.scale = scale;
    }
    if (logical->kind != ANNOTATION_NONE && (logical->kind != ANNOTATION_UNKNOWN || converted->kind == ANNOTATION_NONE))
        element->annotation = *logical;
}

static bool name_is_text(struct str name)
{
    return name.length == 0 || (memchr(name.data, '\0', name.length) == NULL && utf8_is_valid(name.data, name.length));
}

static kith_error *read_element(struct thrift_reader *reader, struct schema_element *out)
{
    struct thrift_field field = {0};
    struct annotation converted = {0}, logical = {0};
    int32_t number, precision = 0, scale = 0;
    bool has_name = false;
    *out = (struct schema_element){0};
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        switch (field.id) {
        case 1:
            TRY(read_enum(reader, &field, PARQUET_FIXED_LEN_BYTE_ARRAY + 1, "physical type", &number));
            out->type = (enum parquet_type)number;
            out->has_type = true;
            break;
        case 2:
            TRY(thrift_read_i32(reader, &field, &out->type_length));
            break;
        case 3:
            TRY(read_enum(reader, &field, REPETITION_VECTOR + 1, "repetition", &number));
            out->repetition = (enum repetition)number;
            out->has_repetition = true;
            break;
        case 4:
            TRY(thrift_read_binary(reader, &field, &out->name));
            has_name = true;
            break;
        case 5:
            TRY(thrift_read_i32(reader, &field, &out->child_count));
            break;
        case 6:
            TRY(annotation_read_converted(reader, &field, &converted));
            break;
        case 7:
            TRY(thrift_read_i32(reader, &field, &scale));
            break;
        case 8:
            TRY(thrift_read_i32(reader, &field, &precision));
            break;
        case 10:
            TRY(annotation_read_logical(reader, &field, &logical));
            break;
        default:
            TRY(thrift_skip(reader, &field));
        }
    }
    if (!has_name || !name_is_text(out->name))
        return thrift_corrupt(reader, "a schema element has no name, or one that is not UTF-8 text");
    choose_annotation(out, &converted, &logical, precision, scale);
    return NULL;
}

/* A group whose children are being visited. */
struct open_group {
    struct str name;
    int32_t children_left;
    uint16_t definition_level, repetition_level;
};

struct walk {
    struct metadata_parser *parser;
    struct open_group groups[LIMIT_PARQUET_SCHEMA_DEPTH];
    size_t depth;
    VEC(struct parquet_column) columns;
};

static void walk_reset(struct walk *walk)
{
    vec_reset(&walk->columns);
}
DEFINE_VALUE_CLEANUP(walk_reset, struct walk)

/* The names of the groups around it (without the root's) and its own. */
static kith_error *leaf_path(struct walk *walk, struct str name, const char **out)
{
    size_t length = name.length;
    for (size_t i = 1; i < walk->depth; i++)
        length += walk->groups[i].name.length + 1;
    if (length > LIMIT_PARQUET_PATH_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "%s: a column's path has %zu bytes; at most %d are supported (limit "
                         "PARQUET_PATH_BYTES)",
                         walk->parser->reader.file, length, LIMIT_PARQUET_PATH_BYTES);
    char *path;
    TRY(arena_alloc(&walk->parser->metadata->arena, length + 1, 1, &path));
    *out = path;
    for (size_t i = 1; i < walk->depth; i++) {
        path = mempcpy(path, walk->groups[i].name.data, walk->groups[i].name.length);
        *path++ = '.';
    }
    if (name.length > 0)
        memcpy(path, name.data, name.length);
    return NULL;
}

static kith_error *add_leaf(struct walk *walk, const struct schema_element *element)
{
    const struct open_group *parent = &walk->groups[walk->depth - 1];
    struct arena *arena = &walk->parser->metadata->arena;
    struct parquet_column column = {0};
    if (element->child_count > 0)
        return thrift_corrupt(&walk->parser->reader, "column \"%.*s\" has both a type and children",
                              (int)MIN(element->name.length, (size_t)100), element->name.data);
    if (element->type == PARQUET_FIXED_LEN_BYTE_ARRAY && element->type_length <= 0)
        return thrift_corrupt(&walk->parser->reader, "the fixed-length column \"%.*s\" has a length of %d",
                              (int)MIN(element->name.length, (size_t)100), element->name.data, element->type_length);
    if (walk->columns.length == LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "%s has more than %d columns (limit COLUMNS)", walk->parser->reader.file,
                         LIMIT_COLUMNS);
    TRY(leaf_path(walk, element->name, &column.path));
    column_resolve_type(element, &column);
    bool repeated = element->repetition == REPETITION_REPEATED || element->repetition == REPETITION_VECTOR;
    column.nullable = element->repetition != REPETITION_REQUIRED;
    column.max_definition_level = (uint16_t)(parent->definition_level + column.nullable);
    column.max_repetition_level = (uint16_t)(parent->repetition_level + repeated);
    if (walk->depth > 1) {
        const struct str *group = &walk->groups[1].name;
        char *reason;
        TRY(arena_printf(arena, &reason, "it lies inside \"%.*s\", and nested columns are not supported",
                         (int)MIN(group->length, (size_t)100), group->data));
        column.unreadable_reason = reason;
    } else if (repeated) {
        column.unreadable_reason = "it is repeated, and nested columns are not supported";
    }
    column.readable = column.unreadable_reason == NULL;
    return vec_push(&walk->columns, column);
}

static kith_error *open_group(struct walk *walk, const struct schema_element *element)
{
    const struct open_group *parent = walk->depth == 0 ? NULL : &walk->groups[walk->depth - 1];
    bool repeated = element->repetition == REPETITION_REPEATED || element->repetition == REPETITION_VECTOR;
    bool nullable = element->repetition != REPETITION_REQUIRED;
    if (element->child_count < 0)
        return thrift_corrupt(&walk->parser->reader, "a group of the schema has %d children", element->child_count);
    if (walk->depth == LIMIT_PARQUET_SCHEMA_DEPTH)
        return error_new(KITH_ERROR_LIMIT, "%s: the schema is nested deeper than %d (limit PARQUET_SCHEMA_DEPTH)",
                         walk->parser->reader.file, LIMIT_PARQUET_SCHEMA_DEPTH);
    struct open_group group = {.name = element->name, .children_left = element->child_count};
    if (parent != NULL) {
        group.definition_level = (uint16_t)(parent->definition_level + nullable);
        group.repetition_level = (uint16_t)(parent->repetition_level + repeated);
    }
    walk->groups[walk->depth++] = group;
    return NULL;
}

static kith_error *visit(struct walk *walk, const struct schema_element *element, bool root)
{
    const struct thrift_reader *reader = &walk->parser->reader;
    if (root)
        return element->has_type ? thrift_corrupt(reader, "the root of the schema is no group")
                                 : open_group(walk, element);
    if (walk->depth == 0)
        return thrift_corrupt(reader, "the schema has more elements than its groups have children");
    walk->groups[walk->depth - 1].children_left--;
    if (!element->has_repetition)
        return thrift_corrupt(reader, "the schema element \"%.*s\" has no repetition",
                              (int)MIN(element->name.length, (size_t)100), element->name.data);
    return element->has_type ? add_leaf(walk, element) : open_group(walk, element);
}

kith_error *metadata_read_schema(struct metadata_parser *parser, const struct thrift_field *field)
{
    enum { ELEMENTS_A_CHARGE = 256 };
    struct parquet_metadata *metadata = parser->metadata;
    _cleanup_(walk_reset) struct walk walk = {.parser = parser};
    size_t count;
    TRY(thrift_read_list(&parser->reader, field, THRIFT_STRUCT, &count));
    if (metadata->columns != NULL || count == 0)
        return thrift_corrupt(&parser->reader, count == 0 ? "the schema is empty" : "there are two schemas");
    for (size_t i = 0; i < count; i++) {
        struct schema_element element;
        TRY(read_element(&parser->reader, &element));
        TRY(visit(&walk, &element, i == 0));
        while (walk.depth > 0 && walk.groups[walk.depth - 1].children_left == 0)
            walk.depth--;
        TRY(coop_charge_every(ELEMENTS_A_CHARGE, i));
    }
    if (walk.depth > 0)
        return thrift_corrupt(&parser->reader, "the schema has fewer elements than its groups have children");
    /* One more than needed, so that a schema without columns is told from none. */
    TRY(ARENA_NEW_ARRAY(&metadata->arena, &metadata->columns, walk.columns.length + 1));
    if (walk.columns.length > 0)
        memcpy(metadata->columns, walk.columns.items, walk.columns.length * sizeof *metadata->columns);
    metadata->column_count = walk.columns.length;
    return NULL;
}
