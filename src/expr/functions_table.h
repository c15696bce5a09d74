/*
 * The list of scalar functions, for functions.c, and what the families (functions_*.c) give to it.
 *
 * X(name, least arguments, most arguments, nulls, volatility, resolve, run, signature, doc), ordered by name.
 * Aliases are entries of their own; PostgreSQL's parser turns EXTRACT, POSITION, SUBSTRING and TRIM into calls of these
 * names.
 */
#ifndef KITH_EXPR_FUNCTIONS_TABLE_H
#define KITH_EXPR_FUNCTIONS_TABLE_H

#include "expr/functions.h"

typedef kith_error *function_resolve(const struct data_type *arguments, const struct scalar *const *constants,
                                     size_t count, struct data_type *out);
typedef kith_error *function_run(const struct datum *arguments, size_t count, size_t rows,
                                 const struct selection *selection, const struct data_type *type, struct array **out);

/* TYPE_MISMATCH with the arguments' types; expr_function puts the function's name in front. */
kith_error *function_type_error(const struct data_type *arguments, size_t count) _must_check_ _never_null_;

/* functions_conditional.c */
function_resolve function_resolve_alike;
function_run function_run_nullif, function_run_greatest, function_run_least;
/* functions_math.c */
function_resolve function_resolve_abs, function_resolve_float, function_resolve_round, function_resolve_whole;
function_run function_run_abs, function_run_ceil, function_run_exp, function_run_floor, function_run_ln;
function_run function_run_log10, function_run_power, function_run_round, function_run_signum, function_run_sqrt;
/* functions_random.c */
function_resolve function_resolve_random;
function_run function_run_random;
/* functions_text.c, functions_concat.c */
function_resolve function_resolve_substr, function_resolve_text, function_resolve_text_length;
function_resolve function_resolve_text_test;
function_run function_run_btrim, function_run_concat, function_run_contains, function_run_ends_with;
function_run function_run_length, function_run_lower, function_run_ltrim, function_run_octet_length;
function_run function_run_replace, function_run_rtrim, function_run_starts_with, function_run_strpos;
function_run function_run_substr, function_run_upper;
/* functions_temporal.c */
function_resolve function_resolve_date_part, function_resolve_date_trunc;
function_run function_run_date_part, function_run_date_trunc;

#define SCALAR_FUNCTIONS(X)                                                                                            \
    X("abs", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_abs, function_run_abs, "abs(number)",    \
      "The number without its sign.")                                                                                  \
    X("btrim", 1, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_btrim,              \
      "btrim(text[, characters])", "The text without the given characters (spaces) at both ends.")                     \
    X("ceil", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_whole, function_run_ceil,               \
      "ceil(number)", "The smallest whole number that is not less.")                                                   \
    X("char_length", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_length,                     \
      function_run_length, "char_length(text)", "The number of characters.")                                           \
    X("character_length", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_length,                \
      function_run_length, "character_length(text)", "The number of characters.")                                      \
    X("coalesce", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_IF_ALL, FUNCTION_IMMUTABLE, function_resolve_alike, NULL,   \
      "coalesce(value, ...)", "The first argument that is not NULL; later ones are not computed.")                     \
    X("concat", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_NEVER, FUNCTION_IMMUTABLE, function_resolve_text,             \
      function_run_concat, "concat(text, ...)", "The arguments joined; NULLs are skipped.")                            \
    X("contains", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_test, function_run_contains,   \
      "contains(text, part)", "Whether the part is in the text.")                                                      \
    X("date_part", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_date_part, function_run_date_part, \
      "date_part(part, date)", "A part of a date, time or timestamp (in UTC) as a number.")                            \
    X("date_trunc", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_date_trunc,                       \
      function_run_date_trunc, "date_trunc(part, date)",                                                               \
      "The first moment of the year, month, ... of a date or timestamp (in UTC).")                                     \
    X("ends_with", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_test, function_run_ends_with, \
      "ends_with(text, part)", "Whether the text ends with the part.")                                                 \
    X("exp", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_exp, "exp(number)",  \
      "e to the power of the number.")                                                                                 \
    X("extract", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_date_part, function_run_date_part,   \
      "extract(part from date)", "The same as date_part.")                                                             \
    X("floor", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_whole, function_run_floor,             \
      "floor(number)", "The largest whole number that is not greater.")                                                \
    X("greatest", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_IF_ALL, FUNCTION_IMMUTABLE, function_resolve_alike,         \
      function_run_greatest, "greatest(value, ...)", "The largest argument; NULLs are ignored.")                       \
    X("least", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_IF_ALL, FUNCTION_IMMUTABLE, function_resolve_alike,            \
      function_run_least, "least(value, ...)", "The smallest argument; NULLs are ignored.")                            \
    X("length", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_length, function_run_length,     \
      "length(text)", "The number of characters.")                                                                     \
    X("ln", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_ln, "ln(number)",     \
      "The natural logarithm.")                                                                                        \
    X("log10", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_log10,             \
      "log10(number)", "The logarithm to base 10.")                                                                    \
    X("lower", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_lower,              \
      "lower(text)", "The text in lower case.")                                                                        \
    X("ltrim", 1, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_ltrim,              \
      "ltrim(text[, characters])", "The text without the given characters (spaces) at its beginning.")                 \
    X("nullif", 2, 2, FUNCTION_NULL_OPEN, FUNCTION_IMMUTABLE, function_resolve_alike, function_run_nullif,             \
      "nullif(value, value)", "NULL if both arguments are equal, otherwise the first.")                                \
    X("octet_length", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_length,                    \
      function_run_octet_length, "octet_length(text)", "The number of bytes.")                                         \
    X("position", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_length, function_run_strpos,   \
      "position(part in text)", "The same as strpos(text, part).")                                                     \
    X("power", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_power,             \
      "power(base, exponent)", "The base to the power of the exponent.")                                               \
    X("random", 0, 0, FUNCTION_NULL_NEVER, FUNCTION_VOLATILE, function_resolve_random, function_run_random,            \
      "random()", "A random number from 0 up to but not including 1, another one for each row.")                       \
    X("replace", 3, 3, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_replace,          \
      "replace(text, from, to)", "The text with every `from` replaced by `to`.")                                       \
    X("round", 1, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_round, function_run_round,             \
      "round(number[, digits])", "The nearest number with so many digits after the point (0); halves away from zero.") \
    X("rtrim", 1, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_rtrim,              \
      "rtrim(text[, characters])", "The text without the given characters (spaces) at its end.")                       \
    X("sign", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_signum,             \
      "sign(number)", "The same as signum.")                                                                           \
    X("signum", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_signum,           \
      "signum(number)", "-1, 0 or 1.")                                                                                 \
    X("sqrt", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_float, function_run_sqrt,               \
      "sqrt(number)", "The square root.")                                                                              \
    X("starts_with", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_test,                       \
      function_run_starts_with, "starts_with(text, part)", "Whether the text begins with the part.")                   \
    X("strpos", 2, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text_length, function_run_strpos,     \
      "strpos(text, part)", "The number of the character at which the part begins first, or 0.")                       \
    X("substr", 2, 3, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_substr, function_run_substr,          \
      "substr(text, start[, count])", "`count` characters from the one numbered `start`; the first has number 1.")     \
    X("substring", 2, 3, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_substr, function_run_substr,       \
      "substring(text, start[, count])", "The same as substr.")                                                        \
    X("trim", 1, 2, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_btrim,               \
      "trim(text[, characters])", "The same as btrim.")                                                                \
    X("upper", 1, 1, FUNCTION_NULL_IF_ANY, FUNCTION_IMMUTABLE, function_resolve_text, function_run_upper,              \
      "upper(text)", "The text in upper case.")

#endif
