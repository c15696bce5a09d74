#include "cluster/filter_registry.h"

#include "base/alloc.h"
#include "base/vec.h"
#include "cluster/bound_message.h"
#include "expr/bound_ranks.h"
#include "runtime/mutex.h"

#include <inttypes.h>

/* What one task has to do with one filter. */
struct registered_task {
    bool waiting;                    /* the strongest bound is to be sent to it */
    const struct bound_steps *steps; /* NULL: every bound is worth telling it */
    size_t passed;                   /* how many of them the bounds pass that it knows */
};

struct registered_filter {
    uint64_t id;
    const struct sort_expr *exprs;
    size_t count;
    struct bound *strongest; /* NULL until one was reported */
    int64_t found_unix_ns;
    struct reservation reservation; /* for `strongest` */
    struct registered_task *tasks;
    struct bound_ranks *ranks; /* NULL: not collected */
    uint64_t wanted;           /* K, where they are */
};

struct paces {
    struct pace worthwhile, others;
};

struct filter_registry {
    size_t tasks;
    struct memory_pool *pool;
    struct reservation reservation; /* for what does not grow with the data */

    pthread_mutex_t mutex; /* guards what follows */
    VEC(struct registered_filter) filters;
    struct paces *paces; /* of each task: what is sent to it */
    struct filter_registry_counters counters;
};

kith_error *filter_registry_new(size_t tasks, struct pace pace, struct pace others, struct memory_pool *pool,
                                struct filter_registry **out)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = NULL;
    TRY(NEW(&registry));
    pthread_mutex_init(&registry->mutex, NULL);
    registry->tasks = tasks;
    registry->pool = pool;
    registry->reservation = reservation_make(pool, "sharing of Top-K bounds");
    TRY(reservation_resize(&registry->reservation, tasks * sizeof *registry->paces));
    TRY(NEW_ARRAY(&registry->paces, tasks));
    for (size_t i = 0; i < tasks; i++)
        registry->paces[i] = (struct paces){pace, others};
    *out = TAKE(registry);
    return NULL;
}

void filter_registry_free(struct filter_registry *registry)
{
    if (registry == NULL)
        return;
    for (size_t i = 0; i < registry->filters.length; i++) {
        struct registered_filter *filter = &registry->filters.items[i];
        bound_unref(filter->strongest);
        reservation_release(&filter->reservation);
        free(filter->tasks);
        bound_ranks_free(filter->ranks);
    }
    vec_reset(&registry->filters);
    free(registry->paces);
    reservation_release(&registry->reservation);
    pthread_mutex_destroy(&registry->mutex);
    free(registry);
}

kith_error *filter_registry_add(struct filter_registry *registry, uint64_t id, const struct sort_expr *exprs,
                                size_t count)
{
    HOLD_MUTEX(&registry->mutex);
    struct registered_filter filter = {.id = id, .exprs = exprs, .count = count};
    filter.reservation = reservation_make(registry->pool, "Top-K bound");
    TRY(reservation_resize(&registry->reservation,
                           registry->reservation.bytes + sizeof filter + registry->tasks * sizeof *filter.tasks));
    TRY(vec_reserve(&registry->filters, 1));
    TRY(NEW_ARRAY(&filter.tasks, registry->tasks));
    registry->filters.items[registry->filters.length++] = filter;
    return NULL;
}

static struct registered_filter *find_filter(struct filter_registry *registry, uint64_t id)
{
    for (size_t i = 0; i < registry->filters.length; i++)
        if (registry->filters.items[i].id == id)
            return &registry->filters.items[i];
    return NULL;
}

void filter_registry_set_steps(struct filter_registry *registry, uint64_t id, size_t task,
                               const struct bound_steps *steps)
{
    HOLD_MUTEX(&registry->mutex);
    find_filter(registry, id)->tasks[task].steps = steps;
}

static size_t steps_passed(const struct registered_task *task, const struct bound *bound)
{
    return task->steps == NULL ? 0 : bound_steps_passed(task->steps, &bound->values[0]);
}

/* Whether the strongest bound rules out row groups of the task that what it knows does not. */
static bool is_worthwhile(const struct registered_filter *filter, const struct registered_task *task)
{
    return task->steps == NULL || steps_passed(task, filter->strongest) > task->passed;
}

/* The task has reported something at least as good as what waits for it. */
static void settle_slot(struct filter_registry *registry, struct registered_filter *filter, size_t task)
{
    registry->counters.superseded += filter->tasks[task].waiting;
    filter->tasks[task].waiting = false;
}

enum { NOBODY = -1 };

/* `bound` is the strongest from now on, unless there is no room for it. `knows` is the task that need not be told. */
static bool improve(struct filter_registry *registry, struct registered_filter *filter, ptrdiff_t knows,
                    struct bound *bound, int64_t found_unix_ns)
{
    kith_error *refused = reservation_resize(&filter->reservation, bound_memory_bytes(bound));
    if (refused != NULL) {
        error_free(refused); /* A bound is a hint: the query goes on without it. */
        return false;
    }
    bound_unref(filter->strongest);
    filter->strongest = bound_ref(bound);
    filter->found_unix_ns = found_unix_ns;
    registry->counters.unique++;
    for (size_t i = 0; i < registry->tasks; i++) {
        settle_slot(registry, filter, i);
        filter->tasks[i].waiting = (ptrdiff_t)i != knows;
    }
    return registry->tasks > 1;
}

static kith_error *named_filter(struct filter_registry *registry, uint64_t id, struct registered_filter **out)
{
    *out = find_filter(registry, id);
    if (*out == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "a bound came for dynamic filter %" PRIu64 ", which the query has not",
                         id);
    return NULL;
}

/* A bound that the task has by itself. */
static bool take_bound(struct filter_registry *registry, struct registered_filter *filter, size_t task,
                       struct bound *bound, int64_t found_unix_ns)
{
    struct registered_task *reporter = &filter->tasks[task];
    reporter->passed = MAX(reporter->passed, steps_passed(reporter, bound));
    int order = filter->strongest == NULL ? -1 : bound_compare(bound, filter->strongest);
    if (order == 0)
        settle_slot(registry, filter, task);
    if (filter->ranks != NULL)
        bound_ranks_note(filter->ranks, bound);
    return order < 0 && improve(registry, filter, (ptrdiff_t)task, bound, found_unix_ns);
}

kith_error *filter_registry_report(struct filter_registry *registry, size_t task, const struct bound_message *message,
                                   bool *improved)
{
    *improved = false;
    HOLD_MUTEX(&registry->mutex);
    _cleanup_(bound_unref) struct bound *bound = NULL;
    struct registered_filter *filter;
    TRY(named_filter(registry, message->filter_id, &filter));
    TRY(bound_from_message(message, filter->exprs, filter->count, 0, &bound));
    uint64_t unique = registry->counters.unique;
    registry->counters.produced++;
    *improved = take_bound(registry, filter, task, bound, message->found_unix_ns);
    registry->counters.dropped += registry->counters.unique == unique;
    return NULL;
}

kith_error *filter_registry_collect_ranks(struct filter_registry *registry, uint64_t id, uint64_t wanted)
{
    HOLD_MUTEX(&registry->mutex);
    struct registered_filter *filter = find_filter(registry, id);
    filter->wanted = wanted;
    return bound_ranks_new(registry->tasks, wanted, registry->pool, &filter->ranks);
}

/* A bound that the ranks of several tasks prove. */
static bool take_ranks(struct filter_registry *registry, struct registered_filter *filter, size_t task,
                       const struct bound_rank *list, size_t count, int64_t found_unix_ns)
{
    kith_error *refused = bound_ranks_replace(filter->ranks, task, list, count);
    error_free(refused); /* Hints, as bounds are. */
    struct bound *proved = bound_ranks_strongest(filter->ranks);
    if (proved == NULL || (filter->strongest != NULL && bound_compare(proved, filter->strongest) >= 0))
        return false;
    uint64_t unique = registry->counters.unique;
    bool improved = improve(registry, filter, NOBODY, proved, found_unix_ns);
    registry->counters.combined += registry->counters.unique - unique;
    return improved;
}

kith_error *filter_registry_report_ranks(struct filter_registry *registry, size_t task,
                                         const struct ranks_message *message, bool *improved)
{
    struct bound_rank list[LIMIT_BOUND_RANKS];
    size_t count = message->rank_count;
    *improved = false;
    HOLD_MUTEX(&registry->mutex);
    struct registered_filter *filter;
    TRY(named_filter(registry, message->filter_id, &filter));
    if (filter->ranks == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "ranks came for dynamic filter %" PRIu64 ", which has none",
                         message->filter_id);
    TRY(ranks_from_message(message, filter->exprs, filter->count, list));
    uint64_t unique = registry->counters.unique;
    registry->counters.produced++;
    /* The last one is the task's own bound, if it holds as many as are wanted. */
    if (list[count - 1].rows >= filter->wanted)
        *improved = take_bound(registry, filter, task, list[count - 1].bound, message->found_unix_ns);
    *improved |= take_ranks(registry, filter, task, list, count, message->found_unix_ns);
    registry->counters.dropped += registry->counters.unique == unique;
    bound_ranks_unref(list, count);
    return NULL;
}

static struct registered_filter *waiting_filter(struct filter_registry *registry, size_t task, bool worthwhile)
{
    for (size_t i = 0; i < registry->filters.length; i++) {
        struct registered_filter *filter = &registry->filters.items[i];
        if (filter->tasks[task].waiting && is_worthwhile(filter, &filter->tasks[task]) == worthwhile)
            return filter;
    }
    return NULL;
}

static bool take(struct filter_registry *registry, size_t task, bool worthwhile, int64_t now_ns,
                 struct filter_registry_update *out, int64_t *due_ns)
{
    struct pace *pace = worthwhile ? &registry->paces[task].worthwhile : &registry->paces[task].others;
    struct registered_filter *filter = waiting_filter(registry, task, worthwhile);
    if (filter == NULL)
        return false;
    if (now_ns < pace_due_ns(pace)) {
        *due_ns = MIN(*due_ns, pace_due_ns(pace));
        return false;
    }
    pace_sent(pace, now_ns);
    filter->tasks[task].waiting = false;
    filter->tasks[task].passed = MAX(filter->tasks[task].passed, steps_passed(&filter->tasks[task], filter->strongest));
    registry->counters.sent++;
    *out = (struct filter_registry_update){
        .filter_id = filter->id, .bound = bound_ref(filter->strongest), .found_unix_ns = filter->found_unix_ns};
    return true;
}

bool filter_registry_take(struct filter_registry *registry, size_t task, int64_t now_ns,
                          struct filter_registry_update *out, int64_t *due_ns)
{
    *due_ns = INT64_MAX;
    HOLD_MUTEX(&registry->mutex);
    return take(registry, task, true, now_ns, out, due_ns) || take(registry, task, false, now_ns, out, due_ns);
}

bool filter_registry_waits(struct filter_registry *registry, size_t task)
{
    HOLD_MUTEX(&registry->mutex);
    return waiting_filter(registry, task, true) != NULL || waiting_filter(registry, task, false) != NULL;
}

bool filter_registry_has_worthwhile(struct filter_registry *registry, size_t task)
{
    HOLD_MUTEX(&registry->mutex);
    return waiting_filter(registry, task, true) != NULL;
}

void filter_registry_count_bytes(struct filter_registry *registry, uint64_t received, uint64_t sent)
{
    HOLD_MUTEX(&registry->mutex);
    registry->counters.bytes_received += received;
    registry->counters.bytes_sent += sent;
}

void filter_registry_counters(struct filter_registry *registry, struct filter_registry_counters *out)
{
    HOLD_MUTEX(&registry->mutex);
    *out = registry->counters;
}
