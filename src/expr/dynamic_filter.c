#include "expr/dynamic_filter.h"

#include "base/alloc.h"

#include <pthread.h>

struct dynamic_filter {
    struct refcount refs;
    uint64_t id;
    const struct sort_expr *exprs;
    size_t expr_count;

    /* Counts changes of the slots. Released by whoever changed one under the mutex, acquired by readers that ask
     * whether their snapshot is current. */
    _Atomic uint64_t generation;

    pthread_mutex_t mutex; /* guards what follows */
    struct bound *slots[BOUND_ORIGINS];
    struct dynamic_filter_counters counters;
    struct dynamic_filter_watcher *watchers; /* those in the list stay */
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
