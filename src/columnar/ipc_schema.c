#include "columnar/ipc_schema.h"

#include "base/limits.h"
#include "base/vec.h"
#include "columnar/ipc_type.h"

static kith_error *write_dictionary(struct flatbuf_writer *writer, const struct data_type *type, int64_t id,
                                    flatbuf_ref *out)
{
    flatbuf_ref index;
    TRY(ipc_type_write_int(writer, type->index, &index));
    struct flatbuf_slot slots[DICTIONARY_FIELDS] = {
        [DICTIONARY_ID] = flatbuf_int(8, id),
        [DICTIONARY_INDEX_TYPE] = flatbuf_offset(index),
        [DICTIONARY_ORDERED] = flatbuf_int(1, type->dictionary_ordered),
    };
    return flatbuf_write_table(writer, slots, DICTIONARY_FIELDS, out);
}

static kith_error *write_metadata(struct flatbuf_writer *writer, const struct key_value *metadata, size_t count,
                                  flatbuf_ref *out)
{
    *out = 0;
    if (count == 0)
        return NULL;
    _cleanup_free_ flatbuf_ref *refs = NULL;
    TRY(NEW_ARRAY(&refs, count));
    for (size_t i = 0; i < count; i++) {
        flatbuf_ref key, value;
        TRY(flatbuf_write_string(writer, str_of(metadata[i].key), &key));
        TRY(flatbuf_write_string(writer, str_of(metadata[i].value), &value));
        struct flatbuf_slot slots[KEY_VALUE_FIELDS] = {
            [KEY_VALUE_KEY] = flatbuf_offset(key),
            [KEY_VALUE_VALUE] = flatbuf_offset(value),
        };
        TRY(flatbuf_write_table(writer, slots, KEY_VALUE_FIELDS, &refs[i]));
    }
    return flatbuf_write_ref_vector(writer, refs, count, out);
}

/* Ids of dictionaries of nested fields; columns have their own number. */
struct field_writer {
    struct flatbuf_writer *writer;
    int64_t next_dictionary_id;
};

static kith_error *write_fields(struct field_writer *state, const struct field *fields, size_t count, size_t depth,
                                flatbuf_ref *out);

static kith_error *write_field(struct field_writer *state, const struct field *field, int64_t dictionary_id,
                               size_t depth, flatbuf_ref *out)
{
    struct flatbuf_writer *writer = state->writer;
    flatbuf_ref children, metadata, name, dictionary = 0;
    enum ipc_type tag;
    flatbuf_ref type = 0;
    TRY(write_fields(state, field->children, field->child_count, depth + 1, &children));
    TRY(write_metadata(writer, field->metadata, field->metadata_count, &metadata));
    if (type_is_dictionary(&field->type))
        TRY(write_dictionary(writer, &field->type, dictionary_id, &dictionary));
    TRY(ipc_type_write(writer, &field->type, &tag, &type));
    TRY(flatbuf_write_string(writer, str_of(field->name != NULL ? field->name : ""), &name));
    struct flatbuf_slot slots[FIELD_FIELDS] = {
        [FIELD_NAME] = flatbuf_offset(name),
        [FIELD_NULLABLE] = flatbuf_int(1, field->nullable),
        [FIELD_TYPE_TYPE] = flatbuf_int(1, tag),
        [FIELD_TYPE] = flatbuf_offset(type),
        [FIELD_DICTIONARY] = flatbuf_offset(dictionary),
        [FIELD_CHILDREN] = flatbuf_offset(children),
        [FIELD_METADATA] = flatbuf_offset(metadata),
    };
    return flatbuf_write_table(writer, slots, FIELD_FIELDS, out);
}

/* Recurses as deep as the fields nest, up to the limit. */
static kith_error *write_fields(struct field_writer *state, const struct field *fields, size_t count, size_t depth,
                                flatbuf_ref *out)
{
    if (depth > LIMIT_TYPE_NESTING)
        return error_new(KITH_ERROR_LIMIT, "fields nest deeper than TYPE_NESTING (%d)", LIMIT_TYPE_NESTING);
    _cleanup_free_ flatbuf_ref *refs = NULL;
    TRY(NEW_ARRAY(&refs, count));
    for (size_t i = 0; i < count; i++) {
        int64_t dictionary_id = depth == 0 ? (int64_t)i : state->next_dictionary_id++;
        TRY(write_field(state, &fields[i], dictionary_id, depth, &refs[i]));
    }
    return flatbuf_write_ref_vector(state->writer, refs, count, out);
}

kith_error *ipc_schema_write(struct flatbuf_writer *writer, const struct schema *schema, flatbuf_ref *out)
{
    struct field_writer state = {.writer = writer, .next_dictionary_id = (int64_t)schema->field_count};
    flatbuf_ref columns, metadata;
    TRY(write_fields(&state, schema->fields, schema->field_count, 0, &columns));
    TRY(write_metadata(writer, schema->metadata, schema->metadata_count, &metadata));
    struct flatbuf_slot slots[SCHEMA_FIELDS] = {
        [SCHEMA_COLUMNS] = flatbuf_offset(columns),
        [SCHEMA_METADATA] = flatbuf_offset(metadata),
    };
    return flatbuf_write_table(writer, slots, SCHEMA_FIELDS, out);
}

static bool has_nul(struct str text)
{
    return text.length > 0 && memchr(text.data, '\0', text.length) != NULL;
}

/* Gives every pair of field `number` of `table`, KeyValues, to `schema`, or to `field` when that is NULL. Pairs with a
 * NUL byte in them, which some writers' pickled objects have, are left out. */
static kith_error *read_metadata(const struct flatbuf_table *table, unsigned number, struct schema *schema,
                                 struct field *field)
{
    struct flatbuf_vector pairs;
    TRY(flatbuf_read_vector(table, number, sizeof(uint32_t), &pairs));
    for (size_t i = 0; i < pairs.count; i++) {
        struct flatbuf_table pair;
        struct str key, value;
        TRY(flatbuf_vector_table(&pairs, i, &pair));
        TRY(flatbuf_read_string(&pair, KEY_VALUE_KEY, &key));
        TRY(flatbuf_read_string(&pair, KEY_VALUE_VALUE, &value));
        if (has_nul(key) || has_nul(value))
            continue;
        _cleanup_free_ char *key_text = NULL, *value_text = NULL;
        TRY(alloc_string(key.data, key.length, &key_text));
        TRY(alloc_string(value.data, value.length, &value_text));
        TRY(schema != NULL ? schema_add_metadata(schema, key_text, value_text)
                           : field_add_metadata(field, key_text, value_text));
    }
    return NULL;
}

static kith_error *read_dictionary(const struct flatbuf_table *field, struct data_type *type, int64_t *id)
{
    struct flatbuf_table encoding, index;
    TRY(flatbuf_read_table(field, FIELD_DICTIONARY, &encoding));
    if (encoding.bytes == NULL)
        return NULL;
    TRY(flatbuf_read_int(&encoding, DICTIONARY_ID, 8, 0, id));
    int64_t ordered;
    TRY(flatbuf_read_int(&encoding, DICTIONARY_ORDERED, 1, 0, &ordered));
    type->dictionary_ordered = ordered != 0;
    TRY(flatbuf_read_table(&encoding, DICTIONARY_INDEX_TYPE, &index));
    if (index.bytes != NULL)
        return ipc_type_read_int(&index, &type->index);
    type->index = TYPE_INT32;
    return NULL;
}

/* A list of fields that is being read: columns, or the children of a field. */
struct level {
    struct flatbuf_vector tables;
    size_t next;
    struct field *fields;
};

static kith_error *check_child_count(const struct field *field, size_t count)
{
    enum type_id id = field->type.id;
    bool one = id == TYPE_LIST || id == TYPE_MAP;
    if (id == TYPE_STRUCT || count == (one ? 1 : 0))
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "field \"%s\" has %zu children, where its type has %d", field->name, count,
                     one);
}

/* All of a field but its children, of which `children` gets the tables. */
static kith_error *read_field(const struct flatbuf_table *table, struct field *out, int64_t *dictionary_id,
                              struct flatbuf_vector *children)
{
    struct str name;
    TRY(flatbuf_read_string(table, FIELD_NAME, &name));
    if (has_nul(name))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a field name with a NUL byte in it");
    TRY(alloc_string(name.data, name.length, &out->name));
    int64_t tag, nullable;
    struct flatbuf_table type;
    TRY(flatbuf_read_int(table, FIELD_NULLABLE, 1, 0, &nullable));
    out->nullable = nullable != 0;
    TRY(flatbuf_read_int(table, FIELD_TYPE_TYPE, 1, 0, &tag));
    TRY(flatbuf_read_table(table, FIELD_TYPE, &type));
    TRY(error_wrap(ipc_type_read(tag, &type, &out->type), "field \"%s\"", out->name));
    TRY(error_wrap(read_dictionary(table, &out->type, dictionary_id), "dictionary of field \"%s\"", out->name));
    TRY(read_metadata(table, FIELD_METADATA, NULL, out));
    TRY(flatbuf_read_vector(table, FIELD_CHILDREN, sizeof(uint32_t), children));
    return check_child_count(out, children->count);
}

/* Fills `columns`, zeroed, and their children, without recursion. Tables may be shared, so that few bytes say very many
 * fields: they are counted. */
static kith_error *read_fields(const struct flatbuf_vector *tables, struct field *columns, int64_t *dictionary_ids)
{
    struct level levels[LIMIT_TYPE_NESTING] = {{.tables = *tables, .fields = columns}};
    size_t depth = 1, count = tables->count;
    while (depth > 0) {
        struct level *level = &levels[depth - 1];
        if (level->next == level->tables.count) {
            depth--;
            continue;
        }
        size_t i = level->next++;
        struct field *field = &level->fields[i];
        struct flatbuf_table table;
        struct flatbuf_vector children;
        int64_t nested_dictionary_id;
        TRY(flatbuf_vector_table(&level->tables, i, &table));
        TRY(read_field(&table, field, depth == 1 ? &dictionary_ids[i] : &nested_dictionary_id, &children));
        if (children.count == 0)
            continue;
        count += children.count;
        if (count > LIMIT_COLUMNS)
            return error_new(KITH_ERROR_LIMIT, "more fields than COLUMNS (%d)", LIMIT_COLUMNS);
        if (depth == LIMIT_TYPE_NESTING)
            return error_new(KITH_ERROR_LIMIT, "field \"%s\" nests deeper than TYPE_NESTING (%d)", field->name,
                             LIMIT_TYPE_NESTING);
        TRY(NEW_ARRAY(&field->children, children.count));
        field->child_count = children.count;
        levels[depth++] = (struct level){.tables = children, .fields = field->children};
    }
    return NULL;
}

/* Fields that are owned until a schema has copied them. */
struct columns {
    struct field *fields;
    size_t count;
};

static void columns_reset(struct columns *columns)
{
    fields_free(columns->fields, columns->count);
}
DEFINE_VALUE_CLEANUP(columns_reset, struct columns)

static kith_error *check_endianness(const struct flatbuf_table *table)
{
    int64_t endianness;
    TRY(flatbuf_read_int(table, SCHEMA_ENDIANNESS, 2, 0, &endianness));
    if (endianness != 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED,
                         "big-endian Arrow data; have it written on a little-endian machine");
    return NULL;
}

kith_error *ipc_schema_read(const struct flatbuf_table *table, struct schema **out, int64_t **out_dictionary_ids)
{
    TRY(check_endianness(table));
    struct flatbuf_vector tables;
    TRY(flatbuf_read_vector(table, SCHEMA_COLUMNS, sizeof(uint32_t), &tables));
    if (tables.count > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "%zu columns, more than COLUMNS (%d)", tables.count, LIMIT_COLUMNS);
    _cleanup_(columns_reset) struct columns columns = {0};
    _cleanup_free_ int64_t *dictionary_ids = NULL;
    TRY(NEW_ARRAY(&columns.fields, tables.count));
    columns.count = tables.count;
    TRY(NEW_ARRAY(&dictionary_ids, tables.count));
    TRY(read_fields(&tables, columns.fields, dictionary_ids));
    _cleanup_(schema_unref) struct schema *schema = NULL;
    TRY(schema_new(columns.fields, columns.count, &schema));
    TRY(read_metadata(table, SCHEMA_METADATA, schema, NULL));
    *out = TAKE(schema);
    *out_dictionary_ids = TAKE(dictionary_ids);
    return NULL;
}
