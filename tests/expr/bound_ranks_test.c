/* Bounds from ranks, held against brute force: docs/topk-bounds.md, rule (b). */
#include "testing.h"

#include "expr/bound_ranks.h"

#include <math.h>
#include <stdlib.h>

enum { KEYS = 2, MOST_HOLDERS = 5, MOST_HELD = 64 };

struct row {
    struct scalar values[KEYS];
};

struct holder {
    struct row held[MOST_HELD]; /* best first; no more than K */
    size_t count;
    struct row ranks[LIMIT_BOUND_RANKS]; /* as said last */
    uint64_t rows[LIMIT_BOUND_RANKS];
    size_t rank_count;
};

/* What the test knows. The order of rows is that of scalars, not of encoded keys. */
struct model {
    struct sort_order orders[KEYS];
    uint64_t wanted;
    size_t holder_count;
    struct holder holders[MOST_HOLDERS];
    bool has_strongest;
    struct row strongest;
};

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct row *x = a, *y = b;
    const struct sort_order *orders = context;
    for (size_t i = 0; i < KEYS; i++) {
        int order = sort_order_compare(&x->values[i], &y->values[i], orders[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

/* Few different values, so that most rows tie with others. */
static struct row random_row(uint64_t *random)
{
    static const double doubles[] = {0.0, -0.0, 1.5, -2.5, 7.0, INFINITY, NAN};
    struct row row = {{{.type = {.id = TYPE_FLOAT64}}, {.type = {.id = TYPE_INT32}}}};
    for (size_t i = 0; i < KEYS; i++)
        row.values[i].is_null = test_random(random) % 8 == 0;
    row.values[0].float64 = doubles[test_random(random) % ARRAY_SIZE(doubles)];
    row.values[1].int64 = (int64_t)(test_random(random) % 5);
    return row;
}

static struct bound *bound_of(const struct model *model, const struct row *row)
{
    struct bound *bound;
    assert_ok(bound_new(row->values, model->orders, KEYS, 0, &bound));
    return bound;
}

static void hold(struct model *model, struct holder *holder, const struct row *row)
{
    holder->held[holder->count++] = *row;
    qsort_r(holder->held, holder->count, sizeof *row, compare_rows, model->orders);
    holder->count = MIN(holder->count, (size_t)model->wanted);
}

static uint64_t rows_no_worse(struct model *model, const struct holder *holder, const struct row *than)
{
    uint64_t count = 0;
    for (size_t i = 0; i < holder->count; i++)
        count += compare_rows(&holder->held[i], than, model->orders) <= 0;
    return count;
}

/* Some of the values held, with as many rows as are, or one fewer where that still rises. */
static void choose_ranks(struct model *model, struct holder *holder, uint64_t *random)
{
    holder->rank_count = 0;
    for (size_t i = 0; i < holder->count && holder->rank_count < LIMIT_BOUND_RANKS; i++) {
        size_t count = holder->rank_count;
        uint64_t before = count == 0 ? 0 : holder->rows[count - 1];
        uint64_t rows = rows_no_worse(model, holder, &holder->held[i]);
        bool ties = count > 0 && compare_rows(&holder->ranks[count - 1], &holder->held[i], model->orders) == 0;
        if (ties || test_random(random) % 3 == 0)
            continue;
        rows -= test_random(random) % 4 == 0 && rows > before + 1;
        holder->ranks[count] = holder->held[i];
        holder->rows[count] = rows;
        holder->rank_count++;
    }
}

static void tell(struct model *model, struct bound_ranks *ranks, size_t number)
{
    const struct holder *holder = &model->holders[number];
    struct bound_rank list[LIMIT_BOUND_RANKS];
    for (size_t i = 0; i < holder->rank_count; i++)
        list[i] = (struct bound_rank){bound_of(model, &holder->ranks[i]), holder->rows[i]};
    assert_ok(bound_ranks_replace(ranks, number, list, holder->rank_count));
    for (size_t i = 0; i < holder->rank_count; i++)
        bound_unref(list[i].bound);
}

/* What all that was said last gives as the number of rows no worse than `row`. */
static uint64_t rows_said(struct model *model, const struct row *row)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < model->holder_count; i++) {
        const struct holder *holder = &model->holders[i];
        uint64_t most = 0;
        for (size_t j = 0; j < holder->rank_count; j++)
            if (compare_rows(&holder->ranks[j], row, model->orders) <= 0)
                most = MAX(most, holder->rows[j]);
        sum += most;
    }
    return sum;
}

static void note(struct model *model, const struct row *row)
{
    if (!model->has_strongest || compare_rows(row, &model->strongest, model->orders) < 0)
        model->strongest = *row;
    model->has_strongest = true;
}

/* Each value that was said is tried. */
static void prove_by_force(struct model *model)
{
    for (size_t i = 0; i < model->holder_count; i++)
        for (size_t j = 0; j < model->holders[i].rank_count; j++)
            if (rows_said(model, &model->holders[i].ranks[j]) >= model->wanted)
                note(model, &model->holders[i].ranks[j]);
}

static void check(struct model *model, const struct bound_ranks *ranks)
{
    const struct bound *strongest = bound_ranks_strongest(ranks);
    uint64_t held = 0;
    prove_by_force(model);
    assert_int_equal(strongest != NULL, model->has_strongest);
    if (strongest == NULL)
        return;
    struct row row = {{strongest->values[0], strongest->values[1]}};
    assert_int_equal(compare_rows(&row, &model->strongest, model->orders), 0);
    for (size_t i = 0; i < model->holder_count; i++)
        held += rows_no_worse(model, &model->holders[i], &row);
    assert_true(held >= model->wanted);
}

/* Each of the summary's ranks says what the holders say of its value, and each is worse than the one before. */
static void check_summary(struct model *model, const struct bound_ranks *ranks)
{
    struct bound_rank summary[BOUND_RANKS_SUMMARY];
    size_t count = bound_ranks_summarise(ranks, summary);
    for (size_t i = 0; i < count; i++) {
        struct row row = {{summary[i].bound->values[0], summary[i].bound->values[1]}};
        assert_int_equal(summary[i].rows, rows_said(model, &row));
        assert_true(i == 0 || bound_compare(summary[i - 1].bound, summary[i].bound) < 0);
        assert_true(i == 0 || summary[i - 1].rows < summary[i].rows);
        assert_true(summary[i].rows < model->wanted);
    }
    for (size_t i = 0; i < count; i++)
        bound_unref(summary[i].bound);
}

/* K-th best row of all that are held: a bound, wherever it is known from. */
static void note_kth(struct model *model, struct bound_ranks *ranks)
{
    struct row all[MOST_HOLDERS * MOST_HELD];
    size_t count = 0;
    for (size_t i = 0; i < model->holder_count; i++)
        for (size_t j = 0; j < model->holders[i].count; j++)
            all[count++] = model->holders[i].held[j];
    if (count < model->wanted)
        return;
    qsort_r(all, count, sizeof *all, compare_rows, model->orders);
    _cleanup_(bound_unref) struct bound *bound = bound_of(model, &all[model->wanted - 1]);
    bound_ranks_note(ranks, bound);
    note(model, &all[model->wanted - 1]);
}

static void random_round(uint64_t *random)
{
    _cleanup_(bound_ranks_free) struct bound_ranks *ranks = NULL;
    struct model *model = calloc(1, sizeof *model);
    model->wanted = 1 + test_random(random) % 12;
    model->holder_count = 1 + test_random(random) % MOST_HOLDERS;
    for (size_t i = 0; i < KEYS; i++)
        model->orders[i] =
            (struct sort_order){.descending = test_random(random) & 1, .nulls_first = test_random(random) & 1};
    assert_ok(bound_ranks_new(model->holder_count, model->wanted, NULL, &ranks));
    for (int step = 0; step < 40; step++) {
        size_t number = test_random(random) % model->holder_count;
        struct holder *holder = &model->holders[number];
        for (uint64_t rows = test_random(random) % 4; rows > 0; rows--) {
            struct row row = random_row(random);
            hold(model, holder, &row);
        }
        if (test_random(random) % 4 != 0) /* or else it repeats itself */
            choose_ranks(model, holder, random);
        tell(model, ranks, number);
        if (test_random(random) % 16 == 0)
            note_kth(model, ranks);
        check(model, ranks);
        check_summary(model, ranks);
    }
    free(model);
}

static void bounds_of_ranks_are_those_of_brute_force(void **state)
{
    uint64_t random = 4;
    for (int round = 0; round < 2000; round++)
        random_round(&random);
}

static const struct sort_order descending = {.descending = true};

static struct bound *number(int64_t value)
{
    const struct scalar scalar = {.type = {.id = TYPE_INT64}, .int64 = value};
    struct bound *bound;
    assert_ok(bound_new(&scalar, &descending, 1, 0, &bound));
    return bound;
}

static kith_error *say(struct bound_ranks *ranks, size_t holder, int64_t value, uint64_t rows)
{
    const struct bound_rank rank = {number(value), rows};
    kith_error *error = bound_ranks_replace(ranks, holder, &rank, 1);
    bound_unref(rank.bound);
    return error;
}

static void what_is_said_twice_counts_once(void **state)
{
    _cleanup_(bound_ranks_free) struct bound_ranks *ranks = NULL;
    assert_ok(bound_ranks_new(2, 10, NULL, &ranks));
    for (int i = 0; i < 20; i++)
        assert_ok(say(ranks, 0, 50, 6));
    assert_null(bound_ranks_strongest(ranks));
    assert_ok(say(ranks, 1, 40, 4));
    assert_int_equal(bound_ranks_strongest(ranks)->values[0].int64, 40);
}

static void a_newer_word_of_less_takes_the_older_ones_place(void **state)
{
    _cleanup_(bound_ranks_free) struct bound_ranks *ranks = NULL;
    assert_ok(bound_ranks_new(2, 10, NULL, &ranks));
    assert_ok(say(ranks, 0, 50, 6));
    assert_ok(say(ranks, 0, 60, 2));
    assert_ok(say(ranks, 1, 40, 4));
    assert_null(bound_ranks_strongest(ranks));
}

static void without_room_in_the_pool_a_holder_says_nothing(void **state)
{
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    _cleanup_(bound_ranks_free) struct bound_ranks *ranks = NULL;
    assert_ok(memory_pool_new(10000, &pool));
    assert_ok(bound_ranks_new(2, 10, pool, &ranks));
    struct reservation rest = reservation_make(pool, "test");
    assert_ok(say(ranks, 0, 50, 6));
    assert_ok(reservation_resize(&rest, 10000 - memory_pool_used(pool)));
    assert_fails(say(ranks, 1, 40, 4), KITH_ERROR_OUT_OF_MEMORY, "ranks of Top-Ks");
    assert_null(bound_ranks_strongest(ranks));
    reservation_release(&rest);
    assert_ok(say(ranks, 1, 40, 4));
    assert_non_null(bound_ranks_strongest(ranks));
    bound_ranks_free(TAKE(ranks));
    assert_int_equal(memory_pool_used(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_ranks_are_those_of_brute_force),
        cmocka_unit_test(what_is_said_twice_counts_once),
        cmocka_unit_test(a_newer_word_of_less_takes_the_older_ones_place),
        cmocka_unit_test(without_room_in_the_pool_a_holder_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
