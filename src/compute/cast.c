#include "compute/cast.h"

#include "columnar/calendar.h"
#include "columnar/scalar.h"
#include "columnar/utf8.h"
#include "compute/cast_parts.h"
#include "compute/decimal.h"
#include "compute/text_output.h"
#include "compute/text_reader.h"

static bool is_number(enum type_id id)
{
    return type_is_numeric(id) || id == TYPE_BOOL;
}

static bool is_text_or_bytes(enum type_id id)
{
    return type_is_string(id) || type_is_binary(id);
}

/* Types that a number can be stored in. */
static bool is_number_result(enum type_id id)
{
    return is_number(id) && id != TYPE_FLOAT16;
}

static bool is_parsed(const struct data_type *to)
{
    return is_number_result(to->id) || to->id == TYPE_DATE32 || to->id == TYPE_DATE64 || to->id == TYPE_TIME32 ||
           to->id == TYPE_TIME64 || to->id == TYPE_TIMESTAMP;
}

static bool pair_exists(const struct data_type *from, const struct data_type *to)
{
    if (from->id == TYPE_NULL || type_equal(from, to))
        return true;
    if (type_is_string(from->id) && is_parsed(to))
        return true;
    if (is_text_or_bytes(from->id))
        return is_text_or_bytes(to->id) && to->id != TYPE_FIXED_SIZE_BINARY;
    if (type_is_string(to->id))
        return !type_is_nested(from->id);
    if (is_number(from->id) && is_number_result(to->id))
        return true;
    return cast_temporal_check(from, to);
}

/* Whether the cast needs the wall-clock time of a zone that only a zone database knows. */
static bool needs_zone_rules(const struct data_type *from, const struct data_type *to)
{
    int32_t offset;
    bool from_zone = from->id == TYPE_TIMESTAMP && from->timezone[0] != '\0';
    bool to_zone = to->id == TYPE_TIMESTAMP && to->timezone[0] != '\0';
    if (from->id == TYPE_NULL || type_is_integer(from->id) || type_is_integer(to->id) || (from_zone && to_zone))
        return false;
    if (from_zone && !type_is_string(to->id))
        return !parse_fixed_offset(str_of(from->timezone), &offset);
    return to_zone && !parse_fixed_offset(str_of(to->timezone), &offset);
}

kith_error *cast_check(const struct data_type *from, const struct data_type *to)
{
    char from_name[128], to_name[128];
    const char *why = "";
    if (pair_exists(from, to)) {
        if (!needs_zone_rules(from, to))
            return NULL;
        why = ": local time is supported for UTC and fixed offsets only";
    }
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "there is no cast from %s to %s%s",
                     type_format(from, from_name, sizeof from_name), type_format(to, to_name, sizeof to_name), why);
}

static kith_error *conversion_error(const struct cast *cast, size_t row, enum parse_result result)
{
    char shown[64], type[128];
    struct datum datum = {.array = (struct array *)(uintptr_t)cast->from};
    kernel_show(&datum, row, shown, sizeof shown);
    type_format(cast->to, type, sizeof type);
    bool from_text = is_text_or_bytes(cast->from->type.id);
    const char *expected = parse_expected(cast->to);
    const char *quote = from_text ? "\"" : "";
    if (result == PARSE_OUT_OF_RANGE)
        return error_new(KITH_ERROR_OUT_OF_RANGE, "%s%s%s is out of the range of %s", quote, shown, quote, type);
    return error_new(KITH_ERROR_INVALID_TEXT, "\"%s\" is no %s%s%s", shown, type,
                     expected[0] != '\0' ? ": expected " : "", expected);
}

static kith_error *convert_rows(const struct cast *cast,
                                enum parse_result (*convert)(const struct cast *cast, size_t row))
{
    struct array *result = cast->result;
    bool own_validity = false;
    for (size_t k = 0; k < selected_count(cast->selection, cast->rows); k++) {
        size_t row = selected_row(cast->selection, k);
        if (array_is_null(cast->from, row))
            continue;
        enum parse_result outcome = convert(cast, row);
        if (outcome == PARSE_OK)
            continue;
        if (!cast->try_cast)
            return conversion_error(cast, row, outcome);
        if (!own_validity)
            TRY(kernel_own_validity(result));
        own_validity = true;
        bitmap_clear(result->validity->data, row);
    }
    return NULL;
}

enum parse_result cast_from_text(const struct cast *cast, size_t row)
{
    struct str text = array_string(cast->from, row);
    struct array *result = cast->result;
    enum parse_result outcome;
    int64_t value = 0;
    int32_t days = 0;
    double real = 0;
    __int128 number = 0;
    bool boolean = false;
    switch ((int)cast->to->id) {
    case TYPE_BOOL:
        outcome = parse_boolean(text, &boolean);
        bitmap_assign(result->values->data, row, boolean);
        return outcome;
    case TYPE_FLOAT32:
    case TYPE_FLOAT64:
        outcome = parse_float(text, &real);
        if (cast->to->id == TYPE_FLOAT64)
            ((double *)(void *)result->values->data)[row] = real;
        else
            ((float *)(void *)result->values->data)[row] = (float)real;
        return outcome;
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
        outcome = parse_decimal(text, cast->to->precision, cast->to->scale, &number);
        if (outcome == PARSE_OK)
            decimal_store(result, row, number);
        return outcome;
    case TYPE_DATE32:
    case TYPE_DATE64:
        outcome = parse_date(text, &days);
        number = cast->to->id == TYPE_DATE32 ? days : (int64_t)days * SECONDS_PER_DAY * 1000;
        break;
    case TYPE_TIME32:
    case TYPE_TIME64:
        outcome = parse_time(text, cast->to->unit, &value);
        number = value;
        break;
    case TYPE_TIMESTAMP:
        outcome = parse_timestamp(text, cast->to->unit, cast->to_offset, &value);
        number = value;
        break;
    default:
        outcome = parse_integer(text, INT64_MIN, UINT64_MAX, &number);
        break;
    }
    if (outcome != PARSE_OK)
        return outcome;
    return kernel_store_integer(result, row, number) ? PARSE_OK : PARSE_OUT_OF_RANGE;
}

/* Text or bytes from text, bytes or any other value in its text form. */
static kith_error *to_text(const struct cast *cast, struct array **out)
{
    _cleanup_(text_output_reset) struct text_output output = {0};
    const struct array *from = cast->from;
    bool copies = is_text_or_bytes(from->type.id);
    bool checks = type_is_binary(from->type.id) && type_is_string(cast->to->id);
    TRY(text_output_begin(&output, cast->to, cast->rows));
    for (size_t k = 0; k < selected_count(cast->selection, cast->rows); k++) {
        size_t row = selected_row(cast->selection, k);
        if (array_is_null(from, row)) {
            TRY(text_output_set_null(&output, row));
            continue;
        }
        if (!copies) {
            struct scalar value = scalar_from_array(from, row);
            TRY(scalar_format(&value, &output.bytes));
            TRY(text_output_end_row(&output, row));
            continue;
        }
        struct str bytes = array_string(from, row);
        if (!checks || utf8_is_valid(bytes.data, bytes.length))
            TRY(text_output_set(&output, row, bytes));
        else if (cast->try_cast)
            TRY(text_output_set_null(&output, row));
        else
            return error_new(KITH_ERROR_INVALID_TEXT, "%zu bytes of a Binary value are not valid UTF-8", bytes.length);
    }
    return text_output_finish(&output, out);
}

static kith_error *convert(const struct cast *cast)
{
    if (cast_widen(cast))
        return NULL;
    if (type_is_string(cast->from->type.id))
        return convert_rows(cast, cast_from_text);
    bool numbers = is_number(cast->from->type.id) && is_number_result(cast->to->id);
    return convert_rows(cast, numbers ? cast_number : cast_temporal);
}

kith_error *cast_run(const struct datum *operand, const struct data_type *to, bool try_cast, size_t rows,
                     const struct selection *selection, struct array **out)
{
    struct array *from = operand->array;
    TRY(cast_check(&from->type, to));
    if (from->type.id == TYPE_NULL || datum_is_null_constant(operand))
        return kernel_all_null(to, rows, out);
    if (type_equal(&from->type, to)) {
        *out = array_ref(from);
        return NULL;
    }
    struct cast cast = {from, to, try_cast, rows, selection, NULL, 0, 0};
    (void)parse_fixed_offset(str_of(from->type.timezone), &cast.from_offset);
    (void)parse_fixed_offset(str_of(to->timezone), &cast.to_offset);
    if (is_text_or_bytes(to->id))
        return to_text(&cast, out);
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_zeroed_result(to, rows, &result));
    TRY(kernel_unite_validity(result, operand, 1));
    cast.result = result;
    TRY(convert(&cast));
    *out = TAKE(result);
    return NULL;
}
