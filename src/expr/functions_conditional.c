#include "base/alloc.h"
#include "compute/choose.h"
#include "compute/compare.h"
#include "expr/functions_table.h"

/* All arguments of one type, which is the result's; text of any layout goes together. */
kith_error *function_resolve_alike(const struct data_type *arguments, const struct scalar *const *constants,
                                   size_t count, struct data_type *out)
{
    for (size_t i = 1; i < count; i++) {
        bool text = type_is_string(arguments[0].id) && type_is_string(arguments[i].id);
        if (!text && !type_equal(&arguments[0], &arguments[i]))
            return function_type_error(arguments, count);
    }
    *out = arguments[0];
    return compare_check(&arguments[0], &arguments[0]);
}

static kith_error *new_choice(size_t rows, uint32_t **out)
{
    *out = NULL;
    return alloc_resize(out, rows, sizeof **out);
}

/* Both constants cannot be: the evaluator computes an operation on constants as one row of columns. */
kith_error *function_run_nullif(const struct datum *arguments, size_t count, size_t rows,
                                const struct selection *selection, const struct data_type *type, struct array **out)
{
    _cleanup_(array_unref) struct array *equal = NULL;
    _cleanup_free_ uint32_t *which = NULL;
    TRY(compare_run(COMPARE_EQ, &arguments[0], &arguments[1], rows, selection, &equal));
    TRY(new_choice(rows, &which));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        bool drop = !array_is_null(equal, row) && bitmap_get(equal->values->data, equal->offset + row);
        which[row] = drop ? CHOOSE_NULL : 0;
    }
    return choose_rows(type, arguments, 1, which, rows, selection, out);
}

/* The position of the best argument for each row: an argument takes the place of the best so far when that is NULL or
 * the comparison `later operation best` holds. */
static kith_error *run_extreme(enum compare_operator operation, const struct datum *arguments, size_t count,
                               size_t rows, const struct selection *selection, const struct data_type *type,
                               struct array **out)
{
    _cleanup_free_ uint32_t *which = NULL;
    _cleanup_(array_unref) struct array *best = NULL;
    TRY(new_choice(rows, &which));
    for (size_t k = 0; k < selected_count(selection, rows); k++)
        which[selected_row(selection, k)] = 0;
    TRY(choose_rows(type, arguments, 1, which, rows, selection, &best));
    for (size_t i = 1; i < count; i++) {
        struct datum pair[] = {datum_of(best), arguments[i]};
        _cleanup_(array_unref) struct array *better = NULL;
        struct array *next = NULL;
        TRY(compare_run(operation, &pair[1], &pair[0], rows, selection, &better));
        for (size_t k = 0; k < selected_count(selection, rows); k++) {
            size_t row = selected_row(selection, k);
            bool known = !array_is_null(better, row);
            bool take = known ? bitmap_get(better->values->data, better->offset + row) : array_is_null(best, row);
            which[row] = take;
        }
        TRY(choose_rows(type, pair, 2, which, rows, selection, &next));
        array_unref(best);
        best = next;
    }
    *out = TAKE(best);
    return NULL;
}

kith_error *function_run_greatest(const struct datum *arguments, size_t count, size_t rows,
                                  const struct selection *selection, const struct data_type *type, struct array **out)
{
    return run_extreme(COMPARE_GT, arguments, count, rows, selection, type, out);
}

kith_error *function_run_least(const struct datum *arguments, size_t count, size_t rows,
                               const struct selection *selection, const struct data_type *type, struct array **out)
{
    return run_extreme(COMPARE_LT, arguments, count, rows, selection, type, out);
}
