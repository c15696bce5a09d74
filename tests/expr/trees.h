/*
 * Batches and expression trees for tests, in one arena.
 */
#ifndef KITH_TESTS_EXPR_TREES_H
#define KITH_TESTS_EXPR_TREES_H

#include "compute/columns.h"
#include "expr/eval.h"
#include "expr/expr.h"
#include "expr/functions.h"

/* Columns are named a, b, c, … and nullable. References are taken. */
static inline struct batch *batch_of(struct array *const *columns, size_t count)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct field fields[ARRAY_SIZE(names)] = {0};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    struct batch *batch = NULL;
    for (size_t i = 0; i < count; i++)
        fields[i] = (struct field){.name = (char *)(uintptr_t)names[i], .type = columns[i]->type, .nullable = true};
    assert_ok(schema_new(fields, count, &schema));
    assert_ok(batch_new(schema, columns, columns[0]->length, &batch));
    return batch;
}

static inline struct batch *batch_selected(struct batch *batch, const uint32_t *rows, size_t count)
{
    _cleanup_(selection_unref) struct selection *selection = NULL;
    struct batch *selected = NULL;
    assert_ok(selection_new(count, &selection));
    memcpy(selection->rows, rows, count * sizeof *rows);
    selection->count = count;
    assert_ok(batch_select(batch, selection, &selected));
    return selected;
}

static inline const struct expr *column(struct arena *arena, const struct batch *batch, size_t index)
{
    const struct expr *expr = NULL;
    assert_ok(expr_column(arena, batch->schema, index, &expr));
    return expr;
}

static inline const struct expr *integer(struct arena *arena, int64_t value)
{
    const struct expr *expr = NULL;
    struct scalar scalar = {.type = type_of(TYPE_INT64), .int64 = value};
    assert_ok(expr_literal(arena, &scalar, &expr));
    return expr;
}

static inline const struct expr *text(struct arena *arena, const char *value)
{
    const struct expr *expr = NULL;
    struct scalar scalar = {.type = type_of(TYPE_UTF8), .string = str_of(value)};
    assert_ok(expr_literal(arena, &scalar, &expr));
    return expr;
}

static inline const struct expr *null_of(struct arena *arena, enum type_id id)
{
    const struct expr *expr = NULL;
    struct data_type type = type_of(id);
    struct scalar scalar = scalar_null(&type);
    assert_ok(expr_literal(arena, &scalar, &expr));
    return expr;
}

static inline const struct expr *binary(struct arena *arena, enum binary_operator operation, const struct expr *left,
                                        const struct expr *right)
{
    const struct expr *expr = NULL;
    assert_ok(expr_binary(arena, operation, left, right, &expr));
    return expr;
}

static inline const struct expr *logical(struct arena *arena, enum expr_kind kind, const struct expr *left,
                                         const struct expr *right)
{
    const struct expr *expr = NULL;
    assert_ok(expr_logical(arena, kind, (const struct expr *[]){left, right}, 2, &expr));
    return expr;
}

static inline const struct expr *unary(struct arena *arena, enum expr_kind kind, const struct expr *operand)
{
    const struct expr *expr = NULL;
    assert_ok(expr_unary(arena, kind, operand, &expr));
    return expr;
}

static inline const struct expr *cast_to(struct arena *arena, const struct expr *operand, struct data_type type)
{
    const struct expr *expr = NULL;
    assert_ok(expr_cast(arena, EXPR_CAST, operand, &type, &expr));
    return expr;
}

static inline const struct expr *call(struct arena *arena, const char *name, const struct expr *const *arguments,
                                      size_t count)
{
    const struct expr *expr = NULL;
    assert_non_null(scalar_function_find(name));
    assert_ok(expr_function(arena, scalar_function_find(name), arguments, count, &expr));
    return expr;
}
#define CALL(arena, name, ...) \
    call((arena), (name), (const struct expr *[]){__VA_ARGS__}, ARRAY_SIZE(((const struct expr *[]){__VA_ARGS__})))

/* The expression over all rows of the batch, as column_text prints it. */
static inline void check_values(const struct expr *expr, struct batch *batch, const char *expected)
{
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *values = NULL;
    assert_ok(evaluator_new(expr, &evaluator));
    assert_ok(evaluator_run(evaluator, batch, &values));
    assert_int_equal(values->length, batch->rows);
    assert_column(values, expected);
}

/* The expression without columns. */
static inline void check_constant(const struct expr *expr, const char *expected)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf shown = {0};
    struct scalar value;
    assert_ok(expr_evaluate_constant(expr, &arena, &value));
    assert_true(type_equal(&value.type, &expr->type));
    assert_ok(scalar_format(&value, &shown));
    assert_string_equal(strbuf_text(&shown), expected);
}

#endif
