#include "testing.h"

#include "exec/topk_heap.h"

#include <stdlib.h>

enum { MOST_KEYS = 400, LONGEST = 80 };

struct given_key {
    char bytes[LONGEST];
    size_t length;
    uint64_t row;
};

static struct str key_of(const struct given_key *key)
{
    return (struct str){key->bytes, key->length};
}

static int compare_given(const void *a, const void *b)
{
    const struct given_key *x = a, *y = b;
    int order = str_compare(key_of(x), key_of(y));
    return order != 0 ? order : x->row < y->row ? -1 : 1;
}

/* Few different bytes: many keys are equal, or equal in their first eight bytes. */
static void random_key(uint64_t *random, struct given_key *out)
{
    out->length = 1 + test_random(random) % LONGEST;
    for (size_t i = 0; i < out->length; i++)
        out->bytes[i] = (char)(test_random(random) % 2 * 0xff);
}

static void offer(struct topk_heap *heap, const struct given_key *key)
{
    bool entered, accepted = topk_heap_accepts(heap, key_of(key));
    assert_ok(topk_heap_offer(heap, key_of(key), key->row, &entered));
    assert_int_equal(entered, accepted);
}

static void check_against_sort(uint64_t *random, size_t limit, size_t count)
{
    static struct given_key keys[MOST_KEYS];
    _cleanup_(topk_heap_reset) struct topk_heap heap;
    topk_heap_init(&heap, limit);
    for (size_t i = 0; i < count; i++) {
        random_key(random, &keys[i]);
        keys[i].row = i;
        offer(&heap, &keys[i]);
    }
    qsort(keys, count, sizeof *keys, compare_given);
    assert_int_equal(heap.count, MIN(limit, count));
    assert_int_equal(topk_heap_is_full(&heap), count >= limit);
    if (heap.count > 0) {
        const struct topk_entry *worst = topk_heap_worst(&heap);
        assert_true(str_equal((struct str){(char *)worst->key, worst->key_length}, key_of(&keys[heap.count - 1])));
    }
    assert_ok(topk_heap_sort(&heap, NULL));
    for (size_t i = 0; i < heap.count; i++) {
        const struct topk_entry *entry = &heap.entries[i];
        assert_true(str_equal((struct str){(char *)entry->key, entry->key_length}, key_of(&keys[i])));
        assert_true(i == 0 || entry->row > entry[-1].row || !str_equal(key_of(&keys[i]), key_of(&keys[i - 1])));
    }
}

static void the_heap_holds_what_sorting_all_would_put_first(void **state)
{
    uint64_t random = 9;
    for (int round = 0; round < 500; round++)
        check_against_sort(&random, 1 + test_random(&random) % 50, test_random(&random) % MOST_KEYS);
    check_against_sort(&random, 1, MOST_KEYS);
    check_against_sort(&random, MOST_KEYS, MOST_KEYS);
    check_against_sort(&random, SIZE_MAX / 2, 100);
}

static void a_heap_of_none_is_full_and_takes_nothing(void **state)
{
    _cleanup_(topk_heap_reset) struct topk_heap heap;
    topk_heap_init(&heap, 0);
    assert_true(topk_heap_is_full(&heap));
    assert_int_equal(heap.count, 0);
}

static void a_key_equal_to_the_worst_does_not_enter(void **state)
{
    _cleanup_(topk_heap_reset) struct topk_heap heap;
    struct given_key key = {.bytes = "12345678b", .length = 9, .row = 1};
    topk_heap_init(&heap, 1);
    offer(&heap, &key);
    assert_false(topk_heap_accepts(&heap, key_of(&key)));
    key.bytes[8] = 'a'; /* beyond the prefix */
    assert_true(topk_heap_accepts(&heap, key_of(&key)));
    key.length = 8; /* a prefix of the key held */
    assert_true(topk_heap_accepts(&heap, key_of(&key)));
}

static void memory_is_counted_by_capacity_and_reused(void **state)
{
    _cleanup_(topk_heap_reset) struct topk_heap heap;
    uint64_t random = 4;
    topk_heap_init(&heap, 10);
    for (int i = 0; i < 200; i++) {
        struct given_key key = {.row = (uint64_t)i};
        random_key(&random, &key);
        offer(&heap, &key);
    }
    size_t counted = topk_heap_memory_bytes(&heap);
    assert_true(counted >= 10 * sizeof *heap.entries);
    assert_true(counted <= 10 * (sizeof *heap.entries + 2 * LONGEST) + 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_holds_what_sorting_all_would_put_first),
        cmocka_unit_test(a_heap_of_none_is_full_and_takes_nothing),
        cmocka_unit_test(a_key_equal_to_the_worst_does_not_enter),
        cmocka_unit_test(memory_is_counted_by_capacity_and_reused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
