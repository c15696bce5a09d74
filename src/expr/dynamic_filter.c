#include "expr/dynamic_filter.h"

#include "base/alloc.h"
#include "expr/bound_ranks.h"

#include <pthread.h>

struct dynamic_filter {
    struct refcount refs;
    uint64_t id;
    const struct sort_expr *exprs;
    size_t expr_count;
    uint64_t wanted; /* rows that a Top-K keeps, if ranks are collected */
    uint64_t least;  /* rows of a rank that is of use */

    /* Counts changes of the slots. Released by whoever changed one under the mutex, acquired by readers that ask
     * whether their snapshot is current. */
    _Atomic uint64_t generation;
    atomic_size_t holders; /* numbered so far */

    pthread_mutex_t mutex; /* guards what follows */
    struct bound *slots[BOUND_ORIGINS];
    struct dynamic_filter_counters counters;
    struct dynamic_filter_watcher *watchers; /* those in the list stay */
    struct bound_ranks *ranks;               /* NULL: not collected */
    bool ranks_wanted;
    struct bound *ranks_floor; /* worse ones are of no use; NULL = all are */
};

kith_error *dynamic_filter_new(uint64_t id, const struct sort_expr *exprs, size_t count, struct dynamic_filter **out)
{
    TRY(NEW(out));
    refcount_init(&(*out)->refs);
    (*out)->id = id;
    (*out)->exprs = exprs;
    (*out)->expr_count = count;
    pthread_mutex_init(&(*out)->mutex, NULL);
    return NULL;
}

struct dynamic_filter *dynamic_filter_ref(struct dynamic_filter *filter)
{
    refcount_take(&filter->refs);
    return filter;
}

void dynamic_filter_unref(struct dynamic_filter *filter)
{
    if (filter == NULL || !refcount_drop(&filter->refs))
        return;
    for (int i = 0; i < BOUND_ORIGINS; i++)
        bound_unref(filter->slots[i]);
    bound_ranks_free(filter->ranks);
    bound_unref(filter->ranks_floor);
    pthread_mutex_destroy(&filter->mutex);
    free(filter);
}

uint64_t dynamic_filter_id(const struct dynamic_filter *filter)
{
    return filter->id;
}

size_t dynamic_filter_exprs(const struct dynamic_filter *filter, const struct sort_expr **out)
{
    *out = filter->exprs;
    return filter->expr_count;
}

static bool is_stronger(const struct bound *bound, const struct bound *than)
{
    return than == NULL || bound_compare(bound, than) < 0;
}

void dynamic_filter_offer(struct dynamic_filter *filter, enum bound_origin origin, struct bound *bound, bool *stronger)
{
    struct dynamic_filter_watcher *watchers = NULL;
    struct bound *replaced = NULL;

    pthread_mutex_lock(&filter->mutex);
    *stronger = is_stronger(bound, filter->slots[origin]);
    if (origin == BOUND_REMOTE) {
        filter->counters.received++;
        filter->counters.applied += *stronger && is_stronger(bound, filter->slots[BOUND_LOCAL]) &&
                                    is_stronger(bound, filter->slots[BOUND_PLANNED]);
    }
    if (*stronger && filter->ranks != NULL)
        bound_ranks_note(filter->ranks, bound);
    if (*stronger) {
        replaced = filter->slots[origin];
        filter->slots[origin] = bound_ref(bound);
        atomic_fetch_add_explicit(&filter->generation, 1, memory_order_release);
        filter->counters.produced += origin == BOUND_LOCAL;
        watchers = filter->watchers;
    }
    pthread_mutex_unlock(&filter->mutex);

    bound_unref(replaced);
    for (; watchers != NULL; watchers = watchers->next)
        watchers->changed(watchers, origin, bound);
}

kith_error *dynamic_filter_collect_ranks(struct dynamic_filter *filter, size_t holders, uint64_t wanted, uint64_t least,
                                         struct memory_pool *pool)
{
    TRY(bound_ranks_new(holders, wanted, pool, &filter->ranks));
    filter->wanted = wanted;
    filter->least = least;
    filter->ranks_wanted = true;
    for (int i = 0; i < BOUND_ORIGINS; i++)
        if (filter->slots[i] != NULL)
            bound_ranks_note(filter->ranks, filter->slots[i]);
    return NULL;
}

size_t dynamic_filter_add_holder(struct dynamic_filter *filter)
{
    return atomic_fetch_add_explicit(&filter->holders, 1, memory_order_relaxed);
}

uint64_t dynamic_filter_wanted(const struct dynamic_filter *filter)
{
    return filter->wanted;
}

uint64_t dynamic_filter_least_rank(const struct dynamic_filter *filter)
{
    return filter->least;
}

void dynamic_filter_limit_ranks(struct dynamic_filter *filter, bool wanted, struct bound *floor)
{
    pthread_mutex_lock(&filter->mutex);
    struct bound *replaced = filter->ranks_floor;
    filter->ranks_wanted = wanted;
    filter->ranks_floor = floor == NULL ? NULL : bound_ref(floor);
    pthread_mutex_unlock(&filter->mutex);
    bound_unref(replaced);
}

struct bound *dynamic_filter_ranks_floor(struct dynamic_filter *filter)
{
    pthread_mutex_lock(&filter->mutex);
    struct bound *floor = filter->ranks_floor == NULL ? NULL : bound_ref(filter->ranks_floor);
    pthread_mutex_unlock(&filter->mutex);
    return floor;
}

bool dynamic_filter_wants_rank(struct dynamic_filter *filter, struct str key)
{
    pthread_mutex_lock(&filter->mutex);
    bool wanted = filter->ranks != NULL && filter->ranks_wanted &&
                  (filter->ranks_floor == NULL || !bound_is_ahead_of(filter->ranks_floor, key));
    pthread_mutex_unlock(&filter->mutex);
    return wanted;
}

/* The ranks may have proved a bound that is stronger than all there are: then it takes the place of the local one,
 * which is given. */
static bool take_proved(struct dynamic_filter *filter, struct bound **replaced)
{
    struct bound *proved = bound_ranks_strongest(filter->ranks);
    for (int i = 0; i < BOUND_ORIGINS; i++)
        if (proved == NULL || !is_stronger(proved, filter->slots[i]))
            return false;
    *replaced = filter->slots[BOUND_LOCAL];
    filter->slots[BOUND_LOCAL] = bound_ref(proved);
    filter->counters.produced++;
    atomic_fetch_add_explicit(&filter->generation, 1, memory_order_release);
    return true;
}

void dynamic_filter_offer_ranks(struct dynamic_filter *filter, size_t holder, const struct bound_rank *list,
                                size_t count)
{
    _cleanup_(bound_unref) struct bound *replaced = NULL;
    _cleanup_(bound_unref) struct bound *proved = NULL;
    pthread_mutex_lock(&filter->mutex);
    kith_error *refused = bound_ranks_replace(filter->ranks, holder, list, count);
    error_free(refused); /* A rank is a hint: the query goes on without it. */
    if (take_proved(filter, &replaced))
        proved = bound_ref(filter->slots[BOUND_LOCAL]);
    struct dynamic_filter_watcher *watchers = filter->watchers;
    pthread_mutex_unlock(&filter->mutex);
    for (; watchers != NULL; watchers = watchers->next) {
        if (proved != NULL)
            watchers->changed(watchers, BOUND_LOCAL, proved);
        if (watchers->ranked != NULL && count > 0)
            watchers->ranked(watchers, list[0].bound);
    }
}

size_t dynamic_filter_ranks(struct dynamic_filter *filter, struct bound_rank out[LIMIT_BOUND_RANKS])
{
    pthread_mutex_lock(&filter->mutex);
    size_t count = filter->ranks == NULL ? 0 : bound_ranks_summarise(filter->ranks, out);
    pthread_mutex_unlock(&filter->mutex);
    return count;
}

void dynamic_filter_watch(struct dynamic_filter *filter, struct dynamic_filter_watcher *watcher)
{
    pthread_mutex_lock(&filter->mutex);
    watcher->next = filter->watchers;
    filter->watchers = watcher;
    pthread_mutex_unlock(&filter->mutex);
}

uint64_t dynamic_filter_generation(const struct dynamic_filter *filter)
{
    return atomic_load_explicit(&filter->generation, memory_order_acquire);
}

struct bound *dynamic_filter_slot(struct dynamic_filter *filter, enum bound_origin origin)
{
    pthread_mutex_lock(&filter->mutex);
    struct bound *bound = filter->slots[origin] == NULL ? NULL : bound_ref(filter->slots[origin]);
    pthread_mutex_unlock(&filter->mutex);
    return bound;
}

struct bound *dynamic_filter_bound(struct dynamic_filter *filter, enum bound_origin *origin)
{
    pthread_mutex_lock(&filter->mutex);
    *origin = BOUND_PLANNED;
    for (int i = BOUND_PLANNED + 1; i < BOUND_ORIGINS; i++)
        if (filter->slots[i] != NULL && is_stronger(filter->slots[i], filter->slots[*origin]))
            *origin = (enum bound_origin)i;
    struct bound *bound = filter->slots[*origin] == NULL ? NULL : bound_ref(filter->slots[*origin]);
    pthread_mutex_unlock(&filter->mutex);
    return bound;
}

void dynamic_filter_counters(struct dynamic_filter *filter, struct dynamic_filter_counters *out)
{
    pthread_mutex_lock(&filter->mutex);
    *out = filter->counters;
    pthread_mutex_unlock(&filter->mutex);
}
