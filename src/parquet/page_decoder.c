#include "parquet/page_decoder.h"

#include "columnar/gather.h"
#include "runtime/coop.h"

/* What is decoded or passed over in well below a millisecond, whatever the encoding. Batches of ordinary size are done
 * before that. */
enum { PIECES_A_CHARGE = 32, ROWS_A_CHARGE = PIECES_A_CHARGE * DECODER_ROWS };

enum { SCRATCH_BYTES = 64 * 1024 }; /* of one of the two arrays of physical values, unless a single one is larger */

kith_error *page_decoder_init(struct page_decoder *decoder, const struct parquet_column *column, bool keep_dictionary,
                              struct page_buffer *scratch)
{
    decoder->scratch = scratch;
    decoder->column = column;
    TRY(conversion_choose(column, &decoder->conversion));
    decoder->keep_dictionary = keep_dictionary && column->type.id == TYPE_UTF8;
    size_t width = MAX(decoder->conversion.in_width, (size_t)1);
    decoder->piece_rows = MAX(MIN((size_t)DECODER_ROWS, SCRATCH_BYTES / width), (size_t)1);
    return NULL;
}

void page_decoder_reset(struct page_decoder *decoder)
{
    dictionary_reset(&decoder->dictionary);
    value_reader_reset(&decoder->values);
}

kith_error *page_decoder_start(struct page_decoder *decoder, const struct page_header *header, struct page_body *body)
{
    decoder->skip = 0;
    TRY(level_reader_init(&decoder->levels, header, decoder->column->max_definition_level, body));
    return value_reader_start(&decoder->values, decoder->column->physical, decoder->conversion.in_width,
                              header->encoding, body->values, body->value_bytes);
}

static kith_error *apply_skip(struct page_decoder *decoder)
{
    while (decoder->skip > 0) {
        size_t present, rows = (size_t)MIN(decoder->skip, (uint64_t)ROWS_A_CHARGE);
        TRY(level_reader_read(&decoder->levels, rows, NULL, &present));
        TRY(value_reader_skip(&decoder->values, present));
        decoder->skip -= rows;
        if (decoder->skip > 0)
            TRY(coop_charge(1));
    }
    return NULL;
}

static kith_error *end_piece(size_t *pieces)
{
    return ++*pieces % PIECES_A_CHARGE == 0 ? coop_charge(1) : NULL;
}

/* A lot of rows: `present` values are there, of which those at `positions` (NULL = all) are wanted. */
struct piece {
    size_t present;
    const uint32_t *positions;
    size_t wanted;
};

static kith_error *read_indices(struct page_decoder *decoder, const struct piece *piece)
{
    uint32_t *indices = decoder->indices;
    TRY(value_reader_indices(&decoder->values, piece->present, indices));
    for (size_t i = 0; piece->positions != NULL && i < piece->wanted; i++)
        indices[i] = indices[piece->positions[i]]; /* positions ascend, so nothing is overwritten before it is used */
    return dictionary_check(&decoder->dictionary, indices, piece->wanted);
}

/* The wanted ones of the next byte arrays are left in decoder->slices. *at is the first value's number in the piece,
 * *next the first of piece->positions not yet used; both move on. */
static kith_error *read_slices(struct page_decoder *decoder, const struct piece *piece, size_t *at, size_t *next,
                               size_t *count)
{
    size_t taken = MIN(piece->present - *at, (size_t)VALUE_SLICES), kept = 0;
    struct str *slices = decoder->slices;
    TRY(value_reader_slices(&decoder->values, taken, slices));
    if (piece->positions == NULL) {
        kept = taken;
    } else {
        for (; *next < piece->wanted && piece->positions[*next] < *at + taken; (*next)++)
            slices[kept++] = slices[piece->positions[*next] - *at];
    }
    *at += taken;
    *count = kept;
    return NULL;
}

static kith_error *decode_strings(struct page_decoder *decoder, const struct piece *piece, struct column_output *output)
{
    if (decoder->values.source == VALUES_DICTIONARY) {
        TRY(read_indices(decoder, piece));
        return column_output_append_indices(output, decoder->dictionary.strings, decoder->indices, piece->wanted,
                                            decoder->keep_dictionary);
    }
    for (size_t at = 0, next = 0, count; at < piece->present;) {
        TRY(read_slices(decoder, piece, &at, &next, &count));
        TRY(column_output_append_slices(output, decoder->slices, count));
    }
    return NULL;
}

/* Fixed-width values that are stored as byte arrays: decimals, and fixed-length arrays in DELTA_BYTE_ARRAY. */
static kith_error *decode_slices(struct page_decoder *decoder, const struct piece *piece, uint8_t *out)
{
    for (size_t at = 0, next = 0, count; at < piece->present;) {
        TRY(read_slices(decoder, piece, &at, &next, &count));
        TRY(convert_slices(&decoder->conversion, decoder->slices, count, out));
        out += count * decoder->conversion.out_width;
    }
    return NULL;
}

static kith_error *decode_fixed(struct page_decoder *decoder, const struct piece *piece, uint8_t *out)
{
    const struct conversion *conversion = &decoder->conversion;
    const uint8_t *values;
    if (decoder->values.source == VALUES_DICTIONARY) {
        TRY(read_indices(decoder, piece));
        gather_fixed(decoder->dictionary.values, conversion->out_width, decoder->indices, piece->wanted, out);
        return NULL;
    }
    if (value_reader_has_slices(&decoder->values))
        return decode_slices(decoder, piece, out);
    bool copied = conversion->kind == CONVERT_COPY;
    if (copied && piece->positions == NULL) {
        TRY(value_reader_fixed(&decoder->values, piece->present, out, &values));
        if (values != out)
            TRY(coop_copy(out, values, piece->present * conversion->in_width));
        return NULL;
    }
    TRY(page_buffer_reserve(decoder->scratch, 2 * decoder->piece_rows * conversion->in_width));
    TRY(value_reader_fixed(&decoder->values, piece->present, decoder->scratch->data, &values));
    if (copied) {
        gather_fixed(values, conversion->in_width, piece->positions, piece->wanted, out);
        return NULL;
    }
    if (piece->positions != NULL) {
        uint8_t *gathered = decoder->scratch->data + decoder->piece_rows * conversion->in_width;
        gather_fixed(values, conversion->in_width, piece->positions, piece->wanted, gathered);
        values = gathered;
    }
    return convert_fixed(conversion, values, piece->wanted, out);
}

static kith_error *decode_bits(struct page_decoder *decoder, const struct piece *piece, struct column_output *output)
{
    uint8_t *out = output->values->data;
    uint8_t bits[DECODER_ROWS / 8] = {0};
    if (piece->positions == NULL)
        return value_reader_bits(&decoder->values, piece->present, out, output->rows);
    TRY(value_reader_bits(&decoder->values, piece->present, bits, 0));
    for (size_t i = 0; i < piece->wanted; i++)
        bitmap_assign(out, output->rows + i, bitmap_get(bits, piece->positions[i]));
    return NULL;
}

static kith_error *decode_values(struct page_decoder *decoder, const struct piece *piece, struct column_output *output)
{
    if (piece->present == 0)
        return NULL;
    switch (decoder->conversion.kind) {
    case CONVERT_NOTHING:
        return error_new(KITH_ERROR_CORRUPT, "a value in a column of NULLs");
    case CONVERT_BITS:
        return decode_bits(decoder, piece, output);
    case CONVERT_STRINGS:
        return decode_strings(decoder, piece, output);
    case CONVERT_COPY:
    case CONVERT_INT32_TO_8:
    case CONVERT_INT32_TO_16:
    case CONVERT_INT32_TO_64:
    case CONVERT_INT32_TO_128:
    case CONVERT_INT64_TO_128:
    case CONVERT_INT96:
    case CONVERT_DECIMAL_TO_64:
    case CONVERT_DECIMAL_TO_128:
        break;
    }
    return decode_fixed(decoder, piece, column_output_place(output));
}

/* Where the selected rows have their values: the number of rows before them that have one. Also the validity of the
 * selected rows alone. */
static size_t rank_selected(struct page_decoder *decoder, const uint32_t *selected, size_t count, size_t first_row)
{
    size_t wanted = 0, counted = 0, before = 0; /* `before` values in the first `counted` rows */
    for (size_t i = 0; i < count; i++) {
        size_t row = selected[i] - first_row;
        bool there = bitmap_get(decoder->validity, row);
        before += bitmap_count(decoder->validity, counted, row - counted);
        counted = row;
        bitmap_assign(decoder->selected_validity, i, there);
        decoder->positions[wanted] = (uint32_t)before;
        wanted += there;
    }
    return wanted;
}

static kith_error *decode_piece(struct page_decoder *decoder, size_t rows, const uint32_t *selected, size_t count,
                                size_t first_row, struct column_output *output)
{
    struct piece piece = {0};
    const uint8_t *validity = decoder->validity;
    TRY(level_reader_read(&decoder->levels, rows, decoder->validity, &piece.present));
    piece.wanted = piece.present;
    if (count < rows) {
        piece.positions = decoder->positions;
        if (piece.present == rows) {
            for (size_t i = 0; i < count; i++)
                decoder->positions[i] = (uint32_t)(selected[i] - first_row);
            piece.wanted = count;
        } else {
            piece.wanted = rank_selected(decoder, selected, count, first_row);
            validity = decoder->selected_validity;
        }
    }
    TRY(decode_values(decoder, &piece, output));
    return column_output_end_rows(output, validity, count, piece.wanted);
}

static kith_error *read_all(struct page_decoder *decoder, size_t rows, struct column_output *output)
{
    size_t pieces = 0;
    TRY(apply_skip(decoder));
    for (size_t taken; rows > 0; rows -= taken) {
        taken = MIN(rows, decoder->piece_rows);
        TRY(decode_piece(decoder, taken, NULL, taken, 0, output));
        TRY(end_piece(&pieces));
    }
    return NULL;
}

kith_error *page_decoder_read(struct page_decoder *decoder, size_t rows, const uint32_t *selected, size_t count,
                              size_t first_row, struct column_output *output)
{
    if (selected == NULL || count == rows)
        return read_all(decoder, rows, output);
    size_t at = first_row, end = first_row + rows, pieces = 0;
    for (size_t done = 0, taken; done < count; done += taken) {
        /* A piece reaches from one selected row to another; the rows between pieces are passed over. */
        size_t begin = selected[done];
        for (taken = 1; done + taken < count && selected[done + taken] - begin < decoder->piece_rows;)
            taken++;
        size_t piece_end = selected[done + taken - 1] + (size_t)1;
        decoder->skip += begin - at;
        TRY(apply_skip(decoder));
        TRY(decode_piece(decoder, piece_end - begin, selected + done, taken, begin, output));
        TRY(end_piece(&pieces));
        at = piece_end;
    }
    decoder->skip += end - at;
    return NULL;
}
