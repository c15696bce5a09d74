#include "columnar/ipc_body.h"

enum piece_kind {
    PIECE_BYTES,     /* `source`, as it is */
    PIECE_BITS,      /* `count` bits of `source` from bit `first` */
    PIECE_OFFSETS32, /* `count` offsets at `source`, counted from the first */
    PIECE_OFFSETS64,
    PIECE_VIEWS,    /* the views of `array`, of which only long ones in use are sent: all in one data buffer */
    PIECE_VIEW_DATA /* that data buffer */
};

/* One buffer of the body, before it is written. */
struct ipc_piece {
    enum piece_kind kind;
    const uint8_t *source;
    size_t first;
    size_t count;
    size_t bytes;
    const struct array *array;
};

/* A view's bytes when they are not in the view itself. */
enum { VIEW_INLINE_BYTES = 12 };

/* Arrow asks for 8 and recommends 64: readers that need more than 8 for some type then use buffers in place. */
enum { ALIGNMENT = 64, COMPRESSED_ALIGNMENT = 8 };

static size_t align(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

static kith_error *add_bytes(struct ipc_body *body, const void *source, size_t bytes)
{
    struct ipc_piece piece = {.kind = PIECE_BYTES, .source = source, .bytes = bytes};
    return vec_push(&body->pieces, piece);
}

static kith_error *add_bits(struct ipc_body *body, const struct buffer *bits, size_t first, size_t count)
{
    struct ipc_piece piece = {.kind = PIECE_BITS, .count = count, .first = first, .bytes = bitmap_bytes(count)};
    if (count > 0)
        piece.source = bits->data;
    return vec_push(&body->pieces, piece);
}

static kith_error *add_validity(struct ipc_body *body, const struct array *array)
{
    struct ipc_node node = {.length = (int64_t)array->length};
    if (array->validity != NULL) {
        size_t valid = bitmap_count(array->validity->data, array->offset, array->length);
        node.null_count = (int64_t)(array->length - valid);
    }
    TRY(vec_push(&body->nodes, node));
    if (node.null_count == 0)
        return add_bytes(body, NULL, 0);
    return add_bits(body, array->validity, array->offset, array->length);
}

static kith_error *add_null(struct ipc_body *body, const struct array *array)
{
    struct ipc_node node = {.length = (int64_t)array->length, .null_count = (int64_t)array->length};
    return vec_push(&body->nodes, node);
}

static kith_error *add_fixed_width(struct ipc_body *body, const struct array *array)
{
    TRY(add_validity(body, array));
    size_t bytes = array->length * type_width(&array->type);
    return add_bytes(body, bytes == 0 ? NULL : array_values(array), bytes);
}

static kith_error *add_bool(struct ipc_body *body, const struct array *array)
{
    TRY(add_validity(body, array));
    return add_bits(body, array->values, array->offset, array->length);
}

static int64_t load_offset(const uint8_t *offsets, size_t i, bool wide)
{
    int64_t offset;
    int32_t narrow;
    if (wide) {
        memcpy(&offset, offsets + i * sizeof offset, sizeof offset);
        return offset;
    }
    memcpy(&narrow, offsets + i * sizeof narrow, sizeof narrow);
    return narrow;
}

static kith_error *add_strings(struct ipc_body *body, const struct array *array, bool wide)
{
    TRY(add_validity(body, array));
    size_t width = wide ? sizeof(int64_t) : sizeof(int32_t);
    struct ipc_piece offsets = {
        .kind = wide ? PIECE_OFFSETS64 : PIECE_OFFSETS32,
        .count = array->length + 1,
        .bytes = (array->length + 1) * width,
    };
    if (array->length == 0) {
        TRY(vec_push(&body->pieces, offsets));
        return add_bytes(body, NULL, 0);
    }
    offsets.source = array->offsets->data + array->offset * width;
    TRY(vec_push(&body->pieces, offsets));
    int64_t first = load_offset(offsets.source, 0, wide), end = load_offset(offsets.source, array->length, wide);
    return add_bytes(body, end == first ? NULL : array->data->data + first, (size_t)(end - first));
}

static const struct string_view *view_at(const struct array *array, size_t i)
{
    return (const struct string_view *)(const void *)array->values->data + array->offset + i;
}

static bool is_reference(const struct array *array, size_t i)
{
    return !array_is_null_itself(array, i) && view_at(array, i)->length > VIEW_INLINE_BYTES;
}

/* Bytes of the data buffers that the rows refer to, those of repeated values repeated. */
static size_t referenced_bytes(const struct array *array)
{
    size_t bytes = 0;
    for (size_t i = 0; i < array->length; i++) {
        if (is_reference(array, i))
            bytes += (size_t)view_at(array, i)->length;
    }
    return bytes;
}

/* A few rows out of many, as a filter or a Top-K leaves them, keep large data buffers alive: then what they refer to is
 * gathered. Otherwise the buffers are sent as they are. */
static kith_error *add_views(struct ipc_body *body, const struct array *array)
{
    TRY(add_validity(body, array));
    size_t held = 0, referenced = referenced_bytes(array);
    for (size_t i = 0; i < array->variadic_count; i++)
        held += array->variadic[i]->size;
    size_t bytes = array->length * sizeof(struct string_view);
    if (referenced > held / 2 || referenced > INT32_MAX) {
        TRY(vec_push(&body->variadic_counts, (int64_t)array->variadic_count));
        TRY(add_bytes(body, bytes == 0 ? NULL : view_at(array, 0), bytes));
        for (size_t i = 0; i < array->variadic_count; i++)
            TRY(add_bytes(body, array->variadic[i]->data, array->variadic[i]->size));
        return NULL;
    }
    TRY(vec_push(&body->variadic_counts, referenced > 0));
    struct ipc_piece views = {.kind = PIECE_VIEWS, .array = array, .bytes = bytes};
    TRY(vec_push(&body->pieces, views));
    if (referenced == 0)
        return NULL;
    struct ipc_piece data = {.kind = PIECE_VIEW_DATA, .array = array, .bytes = referenced};
    return vec_push(&body->pieces, data);
}

kith_error *ipc_body_add(struct ipc_body *body, const struct array *array)
{
    switch (type_layout(&array->type)) {
    case LAYOUT_NULL:
        return add_null(body, array);
    case LAYOUT_BITS:
        return add_bool(body, array);
    case LAYOUT_FIXED:
        return add_fixed_width(body, array);
    case LAYOUT_OFFSETS32:
        return add_strings(body, array, false);
    case LAYOUT_OFFSETS64:
        return add_strings(body, array, true);
    case LAYOUT_VIEW:
        return add_views(body, array);
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    char type[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "columns of nested types (%s) in Arrow IPC",
                     type_format(&array->type, type, sizeof type));
}

static void write_offsets(const struct ipc_piece *piece, uint8_t *out)
{
    bool wide = piece->kind == PIECE_OFFSETS64;
    int64_t first = piece->source == NULL ? 0 : load_offset(piece->source, 0, wide);
    if (piece->source == NULL) {
        memset(out, 0, piece->bytes);
    } else if (first == 0) {
        memcpy(out, piece->source, piece->bytes);
    } else if (wide) {
        for (size_t i = 0; i < piece->count; i++) {
            int64_t offset = load_offset(piece->source, i, true) - first;
            memcpy(out + i * sizeof offset, &offset, sizeof offset);
        }
    } else {
        for (size_t i = 0; i < piece->count; i++) {
            int32_t offset = (int32_t)(load_offset(piece->source, i, false) - first);
            memcpy(out + i * sizeof offset, &offset, sizeof offset);
        }
    }
}

static void write_views(const struct array *array, uint8_t *out)
{
    int32_t offset = 0;
    for (size_t i = 0; i < array->length; i++) {
        struct string_view view = {0};
        if (is_reference(array, i)) {
            view = *view_at(array, i);
            view.reference.buffer = 0;
            view.reference.offset = offset;
            offset += view.length;
        } else if (!array_is_null_itself(array, i)) {
            view = *view_at(array, i);
        }
        memcpy(out + i * sizeof view, &view, sizeof view);
    }
}

static void write_view_data(const struct array *array, uint8_t *out)
{
    for (size_t i = 0; i < array->length; i++) {
        if (!is_reference(array, i))
            continue;
        const struct string_view *view = view_at(array, i);
        memcpy(out, array->variadic[view->reference.buffer]->data + view->reference.offset, (size_t)view->length);
        out += view->length;
    }
}

static void write_piece(const struct ipc_piece *piece, uint8_t *out)
{
    switch (piece->kind) {
    case PIECE_BYTES:
        memcpy(out, piece->source, piece->bytes);
        break;
    case PIECE_BITS:
        out[piece->bytes - 1] = 0;
        bitmap_copy(out, 0, piece->source, piece->first, piece->count);
        break;
    case PIECE_OFFSETS32:
    case PIECE_OFFSETS64:
        write_offsets(piece, out);
        break;
    case PIECE_VIEWS:
        write_views(piece->array, out);
        break;
    case PIECE_VIEW_DATA:
        write_view_data(piece->array, out);
        break;
    }
}

static void pad(struct buffer *buffer, size_t *length, size_t alignment)
{
    size_t end = align(*length, alignment);
    memset(buffer->data + *length, 0, end - *length);
    *length = end;
}

static kith_error *write_plain(struct ipc_body *body, struct buffer **out)
{
    size_t size = 0;
    for (size_t i = 0; i < body->pieces.length; i++) {
        size_t bytes = body->pieces.items[i].bytes;
        body->buffers.items[i] = (struct ipc_buffer){(int64_t)size, (int64_t)bytes};
        size += align(bytes, ALIGNMENT);
    }
    if (size == 0)
        return NULL;
    TRY(buffer_new(size, out));
    for (size_t i = 0; i < body->pieces.length; i++) {
        const struct ipc_piece *piece = &body->pieces.items[i];
        size_t position = (size_t)body->buffers.items[i].offset;
        if (piece->bytes == 0)
            continue;
        write_piece(piece, (*out)->data + position);
        position += piece->bytes;
        pad(*out, &position, ALIGNMENT);
    }
    return NULL;
}

/* The piece's bytes: where they lie when they are sent as they are, otherwise written to `scratch`. */
static kith_error *gather(const struct ipc_piece *piece, struct strbuf *scratch, const uint8_t **out)
{
    if (piece->kind == PIECE_BYTES) {
        *out = piece->source;
        return NULL;
    }
    char *room;
    scratch->length = 0;
    TRY(strbuf_reserve(scratch, piece->bytes, &room));
    write_piece(piece, (uint8_t *)room);
    *out = (const uint8_t *)room;
    return NULL;
}

static kith_error *write_compressed(struct ipc_body *body, struct ipc_compressor *compressor, struct buffer **out)
{
    size_t bound = 0;
    for (size_t i = 0; i < body->pieces.length; i++) {
        if (body->pieces.items[i].bytes > 0)
            bound += align(ipc_compress_bound(compressor, body->pieces.items[i].bytes), COMPRESSED_ALIGNMENT);
    }
    _cleanup_(buffer_unref) struct buffer *buffer = NULL;
    _cleanup_(strbuf_reset) struct strbuf scratch = {0};
    TRY(buffer_new(bound, &buffer));
    size_t position = 0;
    for (size_t i = 0; i < body->pieces.length; i++) {
        const struct ipc_piece *piece = &body->pieces.items[i];
        body->buffers.items[i] = (struct ipc_buffer){.offset = (int64_t)position};
        if (piece->bytes == 0)
            continue;
        const uint8_t *data;
        size_t length;
        TRY(gather(piece, &scratch, &data));
        TRY(ipc_compress(compressor, data, piece->bytes, buffer->data + position, &length));
        body->buffers.items[i].length = (int64_t)length;
        position += length;
        pad(buffer, &position, COMPRESSED_ALIGNMENT);
    }
    buffer->size = position;
    if (position > 0)
        *out = TAKE(buffer);
    return NULL;
}

kith_error *ipc_body_write(struct ipc_body *body, struct ipc_compressor *compressor, struct buffer **out)
{
    *out = NULL;
    TRY(vec_reserve(&body->buffers, body->pieces.length));
    body->buffers.length = body->pieces.length;
    return compressor != NULL ? write_compressed(body, compressor, out) : write_plain(body, out);
}

void ipc_body_restart(struct ipc_body *body)
{
    body->nodes.length = body->pieces.length = body->buffers.length = body->variadic_counts.length = 0;
}

void ipc_body_reset(struct ipc_body *body)
{
    vec_reset(&body->nodes);
    vec_reset(&body->pieces);
    vec_reset(&body->buffers);
    vec_reset(&body->variadic_counts);
}
