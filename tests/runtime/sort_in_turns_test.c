#include "fibers.h"

#include "base/alloc.h"
#include "runtime/sort_in_turns.h"

struct item {
    uint32_t key;
    uint32_t number;
};

struct comparing {
    size_t left; /* comparisons until the sort is cancelled */
    struct cancel_token *cancel;
};

static int by_key(const void *a, const void *b, void *context)
{
    const struct item *x = a, *y = b;
    struct comparing *comparing = context;
    if (comparing->left > 0 && --comparing->left == 0)
        cancel_token_cancel(comparing->cancel, NULL);
    return x->key < y->key ? -1 : x->key > y->key;
}

static struct item *make_items(size_t count, uint32_t keys, uint64_t seed)
{
    struct item *items = NULL;
    assert_ok(NEW_ARRAY(&items, count + 1));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct item){.key = (uint32_t)(test_random(&seed) % keys), .number = (uint32_t)i};
    return items;
}

FIBER_TEST(items_come_in_order_and_equal_ones_stay_as_they_were)
{
    const size_t counts[] = {
        0, 1, 2, SORT_RUN, SORT_RUN + 1, 3 * SORT_RUN, SORT_BLOCK, SORT_BLOCK + 1, 5 * SORT_BLOCK - 7};
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        size_t count = counts[i];
        struct comparing comparing = {0};
        struct sort_in_turns sort = {.size = sizeof(struct item), .compare = by_key, .context = &comparing};
        struct item *items = make_items(count, 1000, i), *scratch = make_items(count, 1, 0);
        bool in_scratch;
        TRY(sort_in_turns(&sort, items, scratch, count, &in_scratch));
        const struct item *sorted = in_scratch ? scratch : items;
        for (size_t j = 1; j < count; j++) {
            EXPECT(sorted[j - 1].key <= sorted[j].key);
            EXPECT(sorted[j - 1].key < sorted[j].key || sorted[j - 1].number < sorted[j].number);
        }
        free(items);
        free(scratch);
    }
    return NULL;
}

FIBER_TEST(an_array_is_sorted_where_it_is)
{
    const size_t counts[] = {0, 1, 2, SORT_RUN, SORT_RUN + 1, SORT_BLOCK, 3 * SORT_BLOCK + 5};
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        struct comparing comparing = {0};
        struct sort_in_turns sort = {.size = sizeof(struct item), .compare = by_key, .context = &comparing};
        struct item *items = make_items(counts[i], 1000, i);
        TRY(sort_array_in_turns(&sort, items, counts[i]));
        for (size_t j = 1; j < counts[i]; j++)
            EXPECT(items[j - 1].key < items[j].key ||
                   (items[j - 1].key == items[j].key && items[j - 1].number < items[j].number));
        free(items);
    }
    return NULL;
}

FIBER_TEST(a_cancelled_sort_keeps_every_item)
{
    enum { COUNT = 3 * SORT_BLOCK + 100 };
    bool *seen = NULL;
    TRY(NEW_ARRAY(&seen, COUNT));
    for (size_t after = 1; after < 900000; after = after * 3 / 2 + 1000) {
        struct comparing comparing = {.left = after};
        TRY(cancel_token_new(NULL, &comparing.cancel));
        struct sort_in_turns sort = {
            .size = sizeof(struct item), .compare = by_key, .context = &comparing, .cancel = comparing.cancel};
        struct item *items = make_items(COUNT, 1000, after), *scratch = make_items(COUNT, 1, 0);
        bool in_scratch;
        EXPECT_FAILS(sort_in_turns(&sort, items, scratch, COUNT, &in_scratch), KITH_ERROR_CANCELLED);
        const struct item *left = in_scratch ? scratch : items;
        memset(seen, 0, COUNT * sizeof *seen);
        for (size_t i = 0; i < COUNT; i++) {
            EXPECT(!seen[left[i].number]);
            seen[left[i].number] = true;
        }
        free(items);
        free(scratch);
        cancel_token_unref(comparing.cancel);
    }
    free(seen);
    return NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order_and_equal_ones_stay_as_they_were),
        cmocka_unit_test(an_array_is_sorted_where_it_is),
        cmocka_unit_test(a_cancelled_sort_keeps_every_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
