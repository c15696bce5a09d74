#include "testing.h"

#include "expr/dynamic_filter.h"

#include <pthread.h>
#include <stdatomic.h>

static const struct sort_order ascending = {0};
static const struct sort_expr no_exprs[1];

static struct bound *bound_of(int64_t value)
{
    struct bound *bound = NULL;
    struct scalar scalar = {.type = type_of(TYPE_INT64), .int64 = value};
    assert_ok(bound_new(&scalar, &ascending, 1, 0, &bound));
    return bound;
}

static struct dynamic_filter *filter_new(void)
{
    struct dynamic_filter *filter = NULL;
    assert_ok(dynamic_filter_new(7, no_exprs, 1, &filter));
    return filter;
}

static bool offer(struct dynamic_filter *filter, enum bound_origin origin, int64_t value)
{
    _cleanup_(bound_unref) struct bound *bound = bound_of(value);
    bool stronger;
    dynamic_filter_offer(filter, origin, bound, &stronger);
    return stronger;
}

/* The strongest bound's value and origin; INT64_MAX when there is none. */
static int64_t strongest(struct dynamic_filter *filter, enum bound_origin *origin)
{
    _cleanup_(bound_unref) struct bound *bound = dynamic_filter_bound(filter, origin);
    return bound == NULL ? INT64_MAX : bound->values[0].int64;
}

static int64_t slot(struct dynamic_filter *filter, enum bound_origin origin)
{
    _cleanup_(bound_unref) struct bound *bound = dynamic_filter_slot(filter, origin);
    return bound == NULL ? INT64_MAX : bound->values[0].int64;
}

static void a_filter_begins_without_a_bound(void **state)
{
    _cleanup_(dynamic_filter_unref) struct dynamic_filter *filter = filter_new();
    enum bound_origin origin;
    const struct sort_expr *exprs;
    assert_int_equal(strongest(filter, &origin), INT64_MAX);
    assert_int_equal(dynamic_filter_generation(filter), 0);
    assert_int_equal(dynamic_filter_id(filter), 7);
    assert_int_equal(dynamic_filter_exprs(filter, &exprs), 1);
    assert_ptr_equal(exprs, no_exprs);
}

static void only_a_stronger_bound_replaces_the_slots(void **state)
{
    _cleanup_(dynamic_filter_unref) struct dynamic_filter *filter = filter_new();
    assert_true(offer(filter, BOUND_LOCAL, 10));
    assert_false(offer(filter, BOUND_LOCAL, 10));
    assert_false(offer(filter, BOUND_LOCAL, 11));
    assert_int_equal(dynamic_filter_generation(filter), 1);
    assert_true(offer(filter, BOUND_LOCAL, 9));
    assert_int_equal(dynamic_filter_generation(filter), 2);
    assert_int_equal(slot(filter, BOUND_LOCAL), 9);
    assert_int_equal(slot(filter, BOUND_REMOTE), INT64_MAX);
}

static void the_strongest_of_the_slots_counts_and_the_local_one_on_a_tie(void **state)
{
    _cleanup_(dynamic_filter_unref) struct dynamic_filter *filter = filter_new();
    enum bound_origin origin;
    offer(filter, BOUND_REMOTE, 10);
    assert_int_equal(strongest(filter, &origin), 10);
    assert_int_equal(origin, BOUND_REMOTE);
    offer(filter, BOUND_LOCAL, 12);
    assert_int_equal(strongest(filter, &origin), 10);
    assert_int_equal(origin, BOUND_REMOTE);
    offer(filter, BOUND_LOCAL, 10);
    assert_int_equal(strongest(filter, &origin), 10);
    assert_int_equal(origin, BOUND_LOCAL);
    offer(filter, BOUND_REMOTE, 3);
    assert_int_equal(strongest(filter, &origin), 3);
    assert_int_equal(slot(filter, BOUND_LOCAL), 10);
}

struct heard {
    struct dynamic_filter_watcher watcher;
    struct dynamic_filter *filter; /* asked from the watcher: it is called outside of locks */
    size_t calls[BOUND_ORIGINS];
    int64_t last;
};

static void hear(struct dynamic_filter_watcher *watcher, enum bound_origin origin, struct bound *bound)
{
    struct heard *heard = CONTAINER_OF(watcher, struct heard, watcher);
    heard->calls[origin]++;
    heard->last = bound->values[0].int64;
    assert_int_equal(slot(heard->filter, origin), heard->last);
}

static void every_watcher_hears_of_each_stronger_bound_and_whose_it_is(void **state)
{
    _cleanup_(dynamic_filter_unref) struct dynamic_filter *filter = filter_new();
    struct heard heard[2] = {{.watcher = {.changed = hear}, .filter = filter},
                             {.watcher = {.changed = hear}, .filter = filter}};
    offer(filter, BOUND_LOCAL, 20);
    for (size_t i = 0; i < 2; i++)
        dynamic_filter_watch(filter, &heard[i].watcher);
    offer(filter, BOUND_REMOTE, 10);
    offer(filter, BOUND_LOCAL, 20);
    /* Weaker than the remote one, but stronger than the local one: others may need it. */
    offer(filter, BOUND_LOCAL, 15);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(heard[i].calls[BOUND_REMOTE], 1);
        assert_int_equal(heard[i].calls[BOUND_LOCAL], 1);
        assert_int_equal(heard[i].last, 15);
    }
}

static void counters_tell_what_was_produced_received_and_of_use(void **state)
{
    _cleanup_(dynamic_filter_unref) struct dynamic_filter *filter = filter_new();
    struct dynamic_filter_counters counters;
    offer(filter, BOUND_LOCAL, 10);
    offer(filter, BOUND_LOCAL, 10);
    offer(filter, BOUND_LOCAL, 8);
    offer(filter, BOUND_REMOTE, 9); /* weaker than the local one */
    offer(filter, BOUND_REMOTE, 5);
    offer(filter, BOUND_REMOTE, 6); /* weaker than the remote one */
    offer(filter, BOUND_REMOTE, 5);
    dynamic_filter_counters(filter, &counters);
    assert_int_equal(counters.produced, 2);
    assert_int_equal(counters.received, 4);
    assert_int_equal(counters.applied, 1);
}

enum { THREADS = 4, OFFERS = 2000 };

struct producer {
    struct dynamic_filter *filter;
    uint64_t random;
    int64_t best[BOUND_ORIGINS];
    size_t stronger;
    bool went_back; /* a bound that was weaker than one read before */
};

static void *produce(void *argument)
{
    struct producer *self = argument;
    int64_t seen = INT64_MAX;
    for (int i = 0; i < OFFERS; i++) {
        enum bound_origin origin = (enum bound_origin)(test_random(&self->random) % BOUND_ORIGINS);
        int64_t value = (int64_t)(test_random(&self->random) % 100000) - i;
        self->stronger += offer(self->filter, origin, value);
        self->best[origin] = MIN(self->best[origin], value);
        int64_t now = strongest(self->filter, &origin);
        self->went_back = self->went_back || now > seen;
        seen = now;
    }
    return NULL;
}

static void threads_that_offer_at_once_leave_the_strongest_bound(void **state)
{
    _cleanup_(dynamic_filter_unref) struct dynamic_filter *filter = filter_new();
    struct producer producers[THREADS];
    pthread_t threads[THREADS];
    int64_t best[BOUND_ORIGINS];
    size_t stronger = 0;
    for (int origin = 0; origin < BOUND_ORIGINS; origin++)
        best[origin] = INT64_MAX;
    for (int i = 0; i < THREADS; i++) {
        producers[i] = (struct producer){.filter = dynamic_filter_ref(filter), .random = (uint64_t)i};
        memcpy(producers[i].best, best, sizeof best);
        assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(producers[i].went_back);
        for (int origin = 0; origin < BOUND_ORIGINS; origin++)
            best[origin] = MIN(best[origin], producers[i].best[origin]);
        stronger += producers[i].stronger;
        dynamic_filter_unref(producers[i].filter);
    }
    for (enum bound_origin origin = BOUND_PLANNED; origin < BOUND_ORIGINS; origin++)
        assert_int_equal(slot(filter, origin), best[origin]);
    assert_int_equal(dynamic_filter_generation(filter), stronger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_begins_without_a_bound),
        cmocka_unit_test(only_a_stronger_bound_replaces_the_slots),
        cmocka_unit_test(the_strongest_of_the_slots_counts_and_the_local_one_on_a_tie),
        cmocka_unit_test(every_watcher_hears_of_each_stronger_bound_and_whose_it_is),
        cmocka_unit_test(counters_tell_what_was_produced_received_and_of_use),
        cmocka_unit_test(threads_that_offer_at_once_leave_the_strongest_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
