#include "expr/functions.h"
#include "testing.h"
#include "wire/plans.h"

struct generator {
    struct arena *arena;
    const struct schema *schema;
    uint64_t *random;
};

static size_t pick(struct generator *generator, size_t count)
{
    return test_random(generator->random) % count;
}

static kith_error *generate(struct generator *generator, enum type_id type, size_t depth, const struct expr **out);

static kith_error *generate_leaf(struct generator *generator, enum type_id type, const struct expr **out)
{
    /* The two columns of each type in test_schema_for_random_exprs. */
    size_t first = type == TYPE_INT64 ? 0 : type == TYPE_BOOL ? 2 : 4;
    struct scalar value = {.type = {.id = type}, .is_null = pick(generator, 8) == 0};
    switch ((int)type) {
    case TYPE_INT64:
        value.int64 = (int64_t)test_random(generator->random);
        break;
    case TYPE_BOOL:
        value.boolean = pick(generator, 2) == 0;
        break;
    default:
        value.string = str_of(pick(generator, 2) == 0 ? "" : "a text % _");
        break;
    }
    if (pick(generator, 2) == 0)
        return expr_literal(generator->arena, &value, out);
    return expr_column(generator->arena, generator->schema, first + pick(generator, 2), out);
}

static kith_error *generate_many(struct generator *generator, enum type_id type, size_t depth, size_t count,
                                 const struct expr **out)
{
    for (size_t i = 0; i < count; i++)
        TRY(generate(generator, type, depth, &out[i]));
    return NULL;
}

static kith_error *generate_case(struct generator *generator, enum type_id type, size_t depth, const struct expr **out)
{
    const struct expr *operands[5];
    size_t whens = 1 + pick(generator, 2), count = 2 * whens + pick(generator, 2);
    for (size_t i = 0; i < count; i++)
        TRY(generate(generator, i % 2 == 0 && i < 2 * whens ? TYPE_BOOL : type, depth, &operands[i]));
    return expr_case(generator->arena, operands, count, out);
}

static kith_error *generate_boolean(struct generator *generator, size_t depth, const struct expr **out)
{
    const struct expr *operands[4];
    struct arena *arena = generator->arena;
    size_t count = 2 + pick(generator, 3);
    switch (pick(generator, 10)) {
    case 0:
        TRY(generate_many(generator, TYPE_INT64, depth, 2, operands));
        return expr_binary(arena, (enum binary_operator)pick(generator, OP_ADD), operands[0], operands[1], out);
    case 1:
        TRY(generate_many(generator, TYPE_BOOL, depth, count, operands));
        return expr_logical(arena, EXPR_AND, operands, count, out);
    case 2:
        TRY(generate_many(generator, TYPE_BOOL, depth, count, operands));
        return expr_logical(arena, EXPR_OR, operands, count, out);
    case 3:
        TRY(generate(generator, TYPE_BOOL, depth, &operands[0]));
        return expr_unary(arena, EXPR_NOT, operands[0], out);
    case 4:
        TRY(generate(generator, TYPE_UTF8, depth, &operands[0]));
        return expr_unary(arena, EXPR_IS_NULL, operands[0], out);
    case 5:
        TRY(generate(generator, TYPE_INT64, depth, &operands[0]));
        return expr_unary(arena, EXPR_IS_NOT_NULL, operands[0], out);
    case 6:
        TRY(generate_many(generator, TYPE_INT64, depth, count, operands));
        return expr_in_list(arena, operands, count, pick(generator, 2) == 0, out);
    case 7:
        TRY(generate_many(generator, TYPE_UTF8, depth, 2, operands));
        return expr_like(arena, operands[0], operands[1], pick(generator, 2) == 0, pick(generator, 2) == 0, out);
    case 8:
        return generate_case(generator, TYPE_BOOL, depth, out);
    default:
        return generate_leaf(generator, TYPE_BOOL, out);
    }
}

static kith_error *generate_integer(struct generator *generator, size_t depth, const struct expr **out)
{
    static const struct data_type int64_type = {.id = TYPE_INT64};
    const struct expr *operands[3];
    struct arena *arena = generator->arena;
    switch (pick(generator, 7)) {
    case 0:
        TRY(generate_many(generator, TYPE_INT64, depth, 2, operands));
        return expr_binary(arena, (enum binary_operator)(OP_ADD + pick(generator, 5)), operands[0], operands[1], out);
    case 1:
        TRY(generate(generator, TYPE_INT64, depth, &operands[0]));
        return expr_unary(arena, EXPR_NEGATIVE, operands[0], out);
    case 2:
        TRY(generate(generator, TYPE_UTF8, depth, &operands[0]));
        return expr_cast(arena, pick(generator, 2) == 0 ? EXPR_CAST : EXPR_TRY_CAST, operands[0], &int64_type, out);
    case 3:
        TRY(generate_many(generator, TYPE_INT64, depth, 3, operands));
        return expr_function(arena, scalar_function_find("coalesce"), operands, 3, out);
    case 4:
        return generate_case(generator, TYPE_INT64, depth, out);
    case 5:
        TRY(generate(generator, TYPE_INT64, depth, &operands[0]));
        return expr_at(arena, operands[0], pick(generator, 1000), out);
    default:
        return generate_leaf(generator, TYPE_INT64, out);
    }
}

static kith_error *generate_text(struct generator *generator, size_t depth, const struct expr **out)
{
    const struct expr *operands[2];
    if (pick(generator, 2) == 0)
        return generate_leaf(generator, TYPE_UTF8, out);
    TRY(generate_many(generator, TYPE_UTF8, depth, 2, operands));
    return expr_binary(generator->arena, OP_CONCAT, operands[0], operands[1], out);
}

static kith_error *generate(struct generator *generator, enum type_id type, size_t depth, const struct expr **out)
{
    if (depth <= 1)
        return generate_leaf(generator, type, out);
    if (type == TYPE_BOOL)
        return generate_boolean(generator, depth - 1, out);
    return type == TYPE_INT64 ? generate_integer(generator, depth - 1, out) : generate_text(generator, depth - 1, out);
}

kith_error *test_random_expr(struct arena *arena, const struct schema *schema, enum type_id type, size_t depth,
                             uint64_t *random, const struct expr **out)
{
    struct generator generator = {arena, schema, random};
    return generate(&generator, type, depth, out);
}
