#include "testing.h"

#include "exec/topk_ranks.h"

static const struct sort_order ascending = {0};

static struct bound *bound_of(int64_t value)
{
    const struct scalar scalar = {.type = {.id = TYPE_INT64}, .int64 = value};
    struct bound *bound;
    assert_ok(bound_new(&scalar, &ascending, 1, 0, &bound));
    return bound;
}

static struct str key_of(const struct bound *bound)
{
    return (struct str){(const char *)bound->key, bound->key_length};
}

/* Offers random values below `range`. */
static void fill(struct topk_heap *heap, uint64_t *random, size_t rows, uint64_t range)
{
    for (size_t i = 0; i < rows; i++) {
        _cleanup_(bound_unref) struct bound *row = bound_of((int64_t)(test_random(random) % range));
        bool entered;
        assert_ok(topk_heap_offer(heap, key_of(row), i, &entered));
    }
}

static uint64_t count_no_worse(const struct topk_heap *heap, const struct topk_entry *than)
{
    uint64_t count = 0;
    for (size_t i = 0; i < heap->count; i++)
        count += topk_entry_compare(&heap->entries[i], than) <= 0;
    return count;
}

static void check_ranks(const struct topk_heap *heap, const struct bound *bound, const struct bound *floor)
{
    struct topk_rank ranks[LIMIT_BOUND_RANKS];
    size_t count = topk_ranks(heap, bound, floor, ranks);
    for (size_t i = 0; i < count; i++) {
        struct str key = {(const char *)ranks[i].entry->key, ranks[i].entry->key_length};
        assert_int_equal(ranks[i].rows, count_no_worse(heap, ranks[i].entry));
        assert_true(i == 0 || topk_entry_compare(ranks[i - 1].entry, ranks[i].entry) < 0);
        assert_true(bound == NULL || str_compare(key, key_of(bound)) < 0);
        assert_true(floor == NULL || str_compare(key, key_of(floor)) <= 0);
    }
}

static void ranks_count_the_rows_that_are_no_worse(void **state)
{
    uint64_t random = 5;
    for (int round = 0; round < 300; round++) {
        _cleanup_(topk_heap_reset) struct topk_heap heap;
        size_t most = test_random(&random) % 3 == 0 ? 3000 : 40;
        uint64_t range = 1 + test_random(&random) % (test_random(&random) % 2 == 0 ? 10 : 10000);
        topk_heap_init(&heap, 1 + test_random(&random) % most);
        fill(&heap, &random, 1 + test_random(&random) % most, range);
        _cleanup_(bound_unref) struct bound *bound = bound_of((int64_t)(test_random(&random) % range));
        _cleanup_(bound_unref) struct bound *floor = bound_of((int64_t)(test_random(&random) % range));
        check_ranks(&heap, NULL, NULL);
        check_ranks(&heap, bound, NULL);
        check_ranks(&heap, NULL, floor);
        check_ranks(&heap, bound, floor);
    }
}

/* The last rank of a heap that is small enough to be looked at in full is of all that is asked for. */
static void ranks_reach_as_far_as_is_asked(void **state)
{
    uint64_t random = 6;
    _cleanup_(topk_heap_reset) struct topk_heap heap;
    struct topk_rank ranks[LIMIT_BOUND_RANKS];
    topk_heap_init(&heap, 100);
    fill(&heap, &random, 100, INT64_MAX);
    assert_int_equal(topk_ranks(&heap, NULL, NULL, ranks), LIMIT_BOUND_RANKS);
    assert_int_equal(ranks[LIMIT_BOUND_RANKS - 1].rows, 100);
    assert_int_equal(ranks[0].rows, 12);
    _cleanup_(bound_unref) struct bound *all = bound_of(-1);
    assert_int_equal(topk_ranks(&heap, all, NULL, ranks), 0);
    assert_int_equal(topk_ranks(&heap, NULL, all, ranks), 0);
}

static void the_best_row_is_found(void **state)
{
    uint64_t random = 7;
    _cleanup_(topk_heap_reset) struct topk_heap heap;
    topk_heap_init(&heap, 500);
    fill(&heap, &random, 800, 100000);
    assert_true(count_no_worse(&heap, topk_heap_best(&heap)) >= 1);
    for (size_t i = 0; i < heap.count; i++)
        assert_true(topk_entry_compare(topk_heap_best(&heap), &heap.entries[i]) <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_count_the_rows_that_are_no_worse),
        cmocka_unit_test(ranks_reach_as_far_as_is_asked),
        cmocka_unit_test(the_best_row_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
