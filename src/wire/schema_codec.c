#include "base/alloc.h"
#include "base/limits.h"
#include "wire/protobuf.h"
#include "wire/type_codec.h"

#include <stdlib.h>

#define KIND(name) DATAFUSION_COMMON__ARROW_TYPE__KIND_##name

static kith_error *encode_metadata(const struct key_value *metadata, size_t count, struct arena *arena,
                                   DatafusionCommon__StringPair ***out)
{
    TRY(ARENA_NEW_ARRAY(arena, out, count));
    for (size_t i = 0; i < count; i++) {
        TRY(protobuf_new(arena, &datafusion_common__string_pair__descriptor, &(*out)[i]));
        (*out)[i]->key = metadata[i].key;
        (*out)[i]->value = metadata[i].value;
    }
    return NULL;
}

static kith_error *encode_field(const struct field *field, size_t depth, struct arena *arena,
                                DatafusionCommon__Field **out);

static kith_error *encode_fields(const struct field *fields, size_t count, size_t depth, struct arena *arena,
                                 DatafusionCommon__Field ***out)
{
    TRY(ARENA_NEW_ARRAY(arena, out, count));
    for (size_t i = 0; i < count; i++)
        TRY(encode_field(&fields[i], depth, arena, &(*out)[i]));
    return NULL;
}

static kith_error *encode_nested(const struct field *field, size_t depth, struct arena *arena,
                                 DatafusionCommon__ArrowType **out)
{
    DatafusionCommon__Field **children;
    if (depth >= LIMIT_TYPE_NESTING)
        return error_new(KITH_ERROR_LIMIT, "the type of column %s is nested deeper than TYPE_NESTING (%d levels)",
                         field->name, LIMIT_TYPE_NESTING);
    TRY(encode_fields(field->children, field->child_count, depth + 1, arena, &children));
    TRY(protobuf_new(arena, &datafusion_common__arrow_type__descriptor, out));
    if (field->type.id == TYPE_STRUCT) {
        (*out)->kind_case = KIND(STRUCT_TYPE);
        TRY(protobuf_new(arena, &datafusion_common__struct_type__descriptor, &(*out)->struct_type));
        (*out)->struct_type->sub_field_types = children;
        (*out)->struct_type->n_sub_field_types = field->child_count;
        return NULL;
    }
    ASSERT(field->child_count == 1);
    if (field->type.id == TYPE_MAP) {
        (*out)->kind_case = KIND(MAP);
        TRY(protobuf_new(arena, &datafusion_common__map_type__descriptor, &(*out)->map));
        (*out)->map->field_type = children[0];
        return NULL;
    }
    (*out)->kind_case = KIND(LIST);
    TRY(protobuf_new(arena, &datafusion_common__list_type__descriptor, &(*out)->list));
    (*out)->list->field_type = children[0];
    return NULL;
}

static kith_error *encode_field(const struct field *field, size_t depth, struct arena *arena,
                                DatafusionCommon__Field **out)
{
    TRY(protobuf_new(arena, &datafusion_common__field__descriptor, out));
    (*out)->name = field->name;
    (*out)->nullable = field->nullable;
    (*out)->n_metadata = field->metadata_count;
    TRY(encode_metadata(field->metadata, field->metadata_count, arena, &(*out)->metadata));
    if (type_is_nested(field->type.id))
        return encode_nested(field, depth, arena, &(*out)->arrow_type);
    return type_encode(&field->type, arena, &(*out)->arrow_type);
}

kith_error *schema_encode(const struct schema *schema, struct arena *arena, DatafusionCommon__Schema **out)
{
    TRY(protobuf_new(arena, &datafusion_common__schema__descriptor, out));
    (*out)->n_columns = schema->field_count;
    TRY(encode_fields(schema->fields, schema->field_count, 0, arena, &(*out)->columns));
    (*out)->n_metadata = schema->metadata_count;
    return encode_metadata(schema->metadata, schema->metadata_count, arena, &(*out)->metadata);
}

static void free_fields(struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        field_reset(&fields[i]);
    free(fields);
}

static kith_error *decode_fields(DatafusionCommon__Field *const *messages, size_t count, size_t depth,
                                 struct field **out);

static kith_error *decode_children(const DatafusionCommon__ArrowType *type, size_t depth, struct field *out)
{
    DatafusionCommon__Field *const *messages = NULL;
    size_t count = 0;
    if (type->kind_case == KIND(STRUCT_TYPE)) {
        messages = type->struct_type->sub_field_types;
        count = type->struct_type->n_sub_field_types;
    } else if (type->kind_case == KIND(MAP)) {
        messages = &type->map->field_type;
        count = 1;
    } else if (type->kind_case == KIND(LIST)) {
        messages = &type->list->field_type;
        count = 1;
    }
    if (depth >= LIMIT_TYPE_NESTING)
        return error_new(KITH_ERROR_LIMIT, "the type of a column is nested deeper than TYPE_NESTING (%d levels)",
                         LIMIT_TYPE_NESTING);
    TRY(decode_fields(messages, count, depth + 1, &out->children));
    out->child_count = count;
    if (out->type.id == TYPE_MAP && (out->children[0].type.id != TYPE_STRUCT || out->children[0].child_count != 2))
        return error_new(KITH_ERROR_CORRUPT, "the map column %s has no struct of a key and a value", out->name);
    return NULL;
}

/* `out` is zeroed; what it holds after an error is for field_reset. */
static kith_error *decode_field(const DatafusionCommon__Field *message, size_t depth, struct field *out)
{
    if (message == NULL || message->arrow_type == NULL)
        return error_new(KITH_ERROR_CORRUPT, "a column of a schema in the plan has no type");
    TRY(alloc_string(message->name, strlen(message->name), &out->name));
    TRY(error_wrap(type_decode(message->arrow_type, &out->type), "column %s", message->name));
    out->nullable = message->nullable != 0;
    for (size_t i = 0; i < message->n_metadata; i++)
        TRY(field_add_metadata(out, message->metadata[i]->key, message->metadata[i]->value));
    return type_is_nested(out->type.id) ? decode_children(message->arrow_type, depth, out) : NULL;
}

static kith_error *decode_fields(DatafusionCommon__Field *const *messages, size_t count, size_t depth,
                                 struct field **out)
{
    struct field *fields = NULL;
    TRY(NEW_ARRAY(&fields, count));
    for (size_t i = 0; i < count; i++) {
        kith_error *error = decode_field(messages[i], depth, &fields[i]);
        if (error == NULL)
            continue;
        free_fields(fields, i + 1);
        return error;
    }
    *out = fields;
    return NULL;
}

kith_error *schema_decode(const DatafusionCommon__Schema *message, const char *what, struct schema **out)
{
    struct field *fields;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    if (message == NULL)
        return error_new(KITH_ERROR_CORRUPT, "%s in the plan has no schema", what);
    if (message->n_columns > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "a schema of %zu columns in the plan exceeds COLUMNS (%d)",
                         message->n_columns, LIMIT_COLUMNS);
    TRY(decode_fields(message->columns, message->n_columns, 0, &fields));
    kith_error *error = schema_new(fields, message->n_columns, &schema);
    free_fields(fields, message->n_columns);
    TRY(error);
    for (size_t i = 0; i < message->n_metadata; i++)
        TRY(schema_add_metadata(schema, message->metadata[i]->key, message->metadata[i]->value));
    *out = TAKE(schema);
    return NULL;
}
