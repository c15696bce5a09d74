#include "expr/pruning.h"

/* What a condition may come out as for some row of the container. A larger set is always sound. */
enum outcome { MAY_BE_TRUE = 1, MAY_BE_FALSE = 2, MAY_BE_NULL = 4, MAY_BE_ANYTHING = 7 };

/* A column's values other than NULL: between `low` and `high` where those are known. NaN counts as the largest value.
 */
struct range {
    bool has_low, has_high;
    struct scalar low, high;
};

static unsigned when(bool possible, enum outcome outcome)
{
    return possible ? (unsigned)outcome : 0;
}

static unsigned negate(unsigned outcomes)
{
    return when(outcomes & MAY_BE_TRUE, MAY_BE_FALSE) | when(outcomes & MAY_BE_FALSE, MAY_BE_TRUE) |
           (outcomes & MAY_BE_NULL);
}

static struct scalar largest_float(const struct data_type *type)
{
    struct scalar nan = {.type = *type};
    if (type->id == TYPE_FLOAT32)
        nan.float32 = __builtin_nanf("");
    else if (type->id == TYPE_FLOAT64)
        nan.float64 = __builtin_nan("");
    else
        nan.uint64 = 0x7e00; /* FLOAT16 */
    return nan;
}

static struct range column_range(const struct column_statistics *statistics, const struct data_type *type)
{
    struct range range = {.has_low = statistics->has_min,
                          .has_high = statistics->has_max,
                          .low = statistics->min,
                          .high = statistics->max};
    if (statistics->may_have_nan) {
        /* Without a minimum there may be nothing but NaN: then the range has no low end that is known. */
        range.has_high = true;
        range.high = largest_float(type);
    }
    return range;
}

static bool comparable(const struct scalar *a, const struct data_type *b)
{
    if (type_is_string(a->type.id) && type_is_string(b->id))
        return true;
    if (type_is_binary(a->type.id) && type_is_binary(b->id))
        return true;
    return type_equal(&a->type, b);
}

/* Whether some value of the range may be below, at, or above `value`. */
struct position {
    bool below, at, above;
};

static struct position compare_range(const struct range *range, const struct scalar *value)
{
    int low = range->has_low ? scalar_compare(&range->low, value) : -1;
    int high = range->has_high ? scalar_compare(&range->high, value) : 1;
    return (struct position){.below = low < 0, .at = low <= 0 && high >= 0, .above = high > 0};
}

static unsigned comparison_outcomes(enum binary_operator operation, struct position position)
{
    bool below = position.below, at = position.at, above = position.above;
    switch ((int)operation) {
    case OP_EQ:
        return when(at, MAY_BE_TRUE) | when(below || above, MAY_BE_FALSE);
    case OP_NE:
        return when(below || above, MAY_BE_TRUE) | when(at, MAY_BE_FALSE);
    case OP_LT:
        return when(below, MAY_BE_TRUE) | when(at || above, MAY_BE_FALSE);
    case OP_LE:
        return when(below || at, MAY_BE_TRUE) | when(above, MAY_BE_FALSE);
    case OP_GT:
        return when(above, MAY_BE_TRUE) | when(below || at, MAY_BE_FALSE);
    case OP_GE:
        return when(at || above, MAY_BE_TRUE) | when(below, MAY_BE_FALSE);
    default:
        return MAY_BE_ANYTHING;
    }
}

static enum binary_operator mirrored(enum binary_operator operation)
{
    switch ((int)operation) {
    case OP_LT:
        return OP_GT;
    case OP_LE:
        return OP_GE;
    case OP_GT:
        return OP_LT;
    case OP_GE:
        return OP_LE;
    default:
        return operation;
    }
}

static unsigned null_outcome(const struct column_statistics *statistics)
{
    return when(statistics_may_have_null(statistics), MAY_BE_NULL);
}

static unsigned compare_column(enum binary_operator operation, const struct expr *column, const struct scalar *value,
                               const struct statistics_source *source)
{
    struct column_statistics statistics;
    bool null_safe = operation == OP_IS_DISTINCT || operation == OP_IS_NOT_DISTINCT;
    if (null_safe || !comparable(value, &column->type))
        return MAY_BE_ANYTHING;
    if (value->is_null)
        return MAY_BE_NULL;
    source->get(source, column->column.index, &statistics);
    if (statistics_all_null(&statistics))
        return MAY_BE_NULL;
    struct range range = column_range(&statistics, &column->type);
    return comparison_outcomes(operation, compare_range(&range, value)) | null_outcome(&statistics);
}

static unsigned compare_outcomes(const struct expr *expr, const struct statistics_source *source)
{
    const struct expr *left = expr->operands[0], *right = expr->operands[1];
    if (left->kind == EXPR_COLUMN && right->kind == EXPR_LITERAL)
        return compare_column(expr->operation, left, &right->literal, source);
    if (left->kind == EXPR_LITERAL && right->kind == EXPR_COLUMN)
        return compare_column(mirrored(expr->operation), right, &left->literal, source);
    return MAY_BE_ANYTHING;
}

/* Whether one of the ordered values of a list lies in the range: the least that is not below it does, or none. */
static bool any_in_range(const struct expr *list, const struct range *range)
{
    size_t low = 0, high = range->has_low ? list->match.value_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scalar_compare(&list->operands[list->match.by_value[middle]]->literal, &range->low) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->match.value_count &&
           compare_range(range, &list->operands[list->match.by_value[low]]->literal).at;
}

/* What comparing the column with each item would come to. */
static unsigned compare_ordered_list(const struct expr *list, const struct statistics_source *source)
{
    struct column_statistics statistics;
    const struct expr *column = list->operands[0];
    if (!comparable(&list->operands[1]->literal, &column->type))
        return MAY_BE_ANYTHING;
    source->get(source, column->column.index, &statistics);
    if (statistics_all_null(&statistics))
        return MAY_BE_NULL;
    struct range range = column_range(&statistics, &column->type);
    return when(any_in_range(list, &range), MAY_BE_TRUE) | MAY_BE_FALSE | null_outcome(&statistics) |
           when(list->match.value_count < list->operand_count - 1, MAY_BE_NULL);
}

static unsigned in_list_outcomes(const struct expr *expr, const struct statistics_source *source)
{
    const struct expr *column = expr->operands[0];
    unsigned any = 0;
    if (column->kind != EXPR_COLUMN)
        return MAY_BE_ANYTHING;
    if (expr->match.by_value != NULL)
        any = compare_ordered_list(expr, source);
    for (size_t i = 1; i < expr->operand_count && expr->match.by_value == NULL; i++) {
        if (expr->operands[i]->kind != EXPR_LITERAL)
            return MAY_BE_ANYTHING;
        any |= compare_column(OP_EQ, column, &expr->operands[i]->literal, source);
    }
    /* A row that equals one item may differ from the others: only a single item can be true for every row. */
    unsigned outcomes = expr->operand_count == 2 ? any : any | MAY_BE_FALSE;
    return expr->match.negated ? negate(outcomes) : outcomes;
}

/* The text before the first wildcard, escapes undone, into `out`; *exact when there is no wildcard. */
static size_t like_prefix(struct str pattern, char *out, size_t capacity, bool *exact)
{
    size_t length = 0;
    *exact = false;
    for (size_t i = 0; i < pattern.length; i++) {
        char c = pattern.data[i];
        if (c == '%' || c == '_')
            return length;
        if (c == '\\' && i + 1 < pattern.length)
            c = pattern.data[++i];
        if (length == capacity)
            return length;
        out[length++] = c;
    }
    *exact = true;
    return length;
}

static int compare_prefix(struct str text, struct str prefix)
{
    return str_compare((struct str){text.data, MIN(text.length, prefix.length)}, prefix);
}

static unsigned like_outcomes(const struct expr *expr, const struct statistics_source *source)
{
    enum { LONGEST_PREFIX = 256 };
    char buffer[LONGEST_PREFIX];
    struct column_statistics statistics;
    const struct expr *column = expr->operands[0], *pattern = expr->operands[1];
    bool exact;
    if (column->kind != EXPR_COLUMN || pattern->kind != EXPR_LITERAL || pattern->literal.is_null ||
        expr->match.case_insensitive || !type_is_string(column->type.id))
        return MAY_BE_ANYTHING;
    struct str prefix = {buffer, like_prefix(pattern->literal.string, buffer, sizeof buffer, &exact)};
    source->get(source, column->column.index, &statistics);
    /* Texts that begin with the prefix lie from the prefix itself to just before its successor. */
    bool before = statistics.has_max && str_compare(statistics.max.string, prefix) < 0;
    bool after = statistics.has_min && compare_prefix(statistics.min.string, prefix) > 0;
    unsigned outcomes = MAY_BE_ANYTHING;
    if (before || after)
        outcomes &= ~(unsigned)MAY_BE_TRUE;
    return expr->match.negated ? negate(outcomes) : outcomes;
}

static unsigned null_test_outcomes(const struct expr *expr, const struct statistics_source *source)
{
    struct column_statistics statistics;
    if (expr->operands[0]->kind != EXPR_COLUMN)
        return MAY_BE_ANYTHING;
    source->get(source, expr->operands[0]->column.index, &statistics);
    unsigned outcomes = when(statistics_may_have_null(&statistics), MAY_BE_TRUE) |
                        when(!statistics_all_null(&statistics), MAY_BE_FALSE);
    return expr->kind == EXPR_IS_NULL ? outcomes : negate(outcomes);
}

static unsigned boolean_column_outcomes(const struct expr *expr, const struct statistics_source *source)
{
    const struct scalar yes = {.type = type_of(TYPE_BOOL), .boolean = true};
    return compare_column(OP_EQ, expr, &yes, source);
}

static unsigned expr_outcomes(const struct expr *expr, const struct statistics_source *source);

/* Three-valued AND: false if any operand is, else NULL if any is. OR is its mirror image. */
static unsigned and_outcomes(const struct expr *expr, const struct statistics_source *source, bool is_or)
{
    unsigned any = 0;
    bool all_may_be_true = true;
    for (size_t i = 0; i < expr->operand_count; i++) {
        unsigned operand = expr_outcomes(expr->operands[i], source);
        if (is_or)
            operand = negate(operand);
        any |= operand;
        all_may_be_true = all_may_be_true && (operand & MAY_BE_TRUE) != 0;
        if (operand == MAY_BE_FALSE)
            return is_or ? MAY_BE_TRUE : MAY_BE_FALSE;
    }
    unsigned outcomes = when(all_may_be_true, MAY_BE_TRUE) | (any & (MAY_BE_FALSE | MAY_BE_NULL));
    return is_or ? negate(outcomes) : outcomes;
}

static unsigned expr_outcomes(const struct expr *expr, const struct statistics_source *source)
{
    if (expr->type.id != TYPE_BOOL)
        return MAY_BE_ANYTHING;
    switch ((int)expr->kind) {
    case EXPR_LITERAL:
        return expr->literal.is_null ? MAY_BE_NULL : expr->literal.boolean ? MAY_BE_TRUE : MAY_BE_FALSE;
    case EXPR_COLUMN:
        return boolean_column_outcomes(expr, source);
    case EXPR_BINARY:
        return compare_outcomes(expr, source);
    case EXPR_AND:
        return and_outcomes(expr, source, false);
    case EXPR_OR:
        return and_outcomes(expr, source, true);
    case EXPR_NOT:
        return negate(expr_outcomes(expr->operands[0], source));
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
        return null_test_outcomes(expr, source);
    case EXPR_IN_LIST:
        return in_list_outcomes(expr, source);
    case EXPR_LIKE:
        return like_outcomes(expr, source);
    default:
        return MAY_BE_ANYTHING;
    }
}

enum prune_verdict expr_prune(const struct expr *predicate, const struct statistics_source *statistics)
{
    unsigned outcomes = expr_outcomes(predicate, statistics);
    if ((outcomes & MAY_BE_TRUE) == 0)
        return PRUNE_NONE_MATCH;
    return outcomes == MAY_BE_TRUE ? PRUNE_ALL_MATCH : PRUNE_SOME_MATCH;
}
