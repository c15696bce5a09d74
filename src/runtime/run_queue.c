#include "runtime/run_queue.h"

#include "base/alloc.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"

/* Rested shares that go before the round one after another at most. */
enum { RESTED_IN_A_ROW = 16 };

/* What a turn costs its share at least: most are not timed. */
enum { TURN_COST_NS = 500 };

kith_error *share_group_new(size_t worker_count, struct share_group **out)
{
    size_t bytes;
    if (__builtin_mul_overflow(worker_count, sizeof(struct share), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct share_group), &bytes))
        return error_out_of_memory();
    TRY(alloc_zeroed(1, bytes, out));
    (*out)->worker_count = worker_count;
    for (size_t i = 0; i < worker_count; i++)
        share_init(&(*out)->shares[i]);
    return NULL;
}

void run_queue_init(struct run_queue *queue)
{
    pthread_mutex_init(&queue->mutex, NULL);
}

void run_queue_destroy(struct run_queue *queue)
{
    pthread_mutex_destroy(&queue->mutex);
}

static struct share *share_of(struct fiber *fiber, size_t worker)
{
    return fiber->group != NULL ? &fiber->group->shares[worker] : &fiber->own_share;
}

void share_charge(struct fiber *fiber, size_t worker, int64_t ns)
{
    atomic_fetch_sub_explicit(&share_of(fiber, worker)->credit_ns, ns, memory_order_relaxed);
}

struct fiber *fiber_list_remove_first(struct list *list)
{
    return list_is_empty(list) ? NULL : CONTAINER_OF(list_remove_first(list), struct fiber, link);
}

static struct share *first_share(const struct list *list)
{
    return CONTAINER_OF(list->first, struct share, link);
}

/* Takes the turn's nominal cost and gives a quantum to who has none left: true if so. Turns are charged without the
 * mutex; that this may undo such a charge is of no account. */
static bool renew_credit(struct share *share, int64_t cost_ns)
{
    int64_t credit = atomic_load_explicit(&share->credit_ns, memory_order_relaxed) - cost_ns;
    bool renewed = credit <= 0;
    /* A turn that took far too long is not held against it for ever. */
    if (renewed)
        credit = MAX(credit, -4 * (int64_t)SHARE_QUANTUM_NS) + SHARE_QUANTUM_NS;
    if (renewed || cost_ns != 0)
        atomic_store_explicit(&share->credit_ns, credit, memory_order_relaxed);
    return renewed;
}

/* These have the mutex held and leave the lengths alone. */

static void insert(struct run_queue *queue, size_t worker, struct fiber *fiber, bool yields)
{
    if (fiber->urgent) {
        list_append(&queue->urgent, &fiber->link);
        return;
    }
    struct share *share = share_of(fiber, worker);
    bool has_others = !list_is_empty(&share->fibers);
    list_append(&share->fibers, &fiber->link);
    if (!has_others)
        list_append(renew_credit(share, TURN_COST_NS) || yields ? &queue->round : &queue->rested, &share->link);
}

static void insert_first(struct run_queue *queue, size_t worker, struct fiber *fiber)
{
    if (fiber->urgent) {
        list_prepend(&queue->urgent, &fiber->link);
        return;
    }
    struct share *share = share_of(fiber, worker);
    bool has_others = !list_is_empty(&share->fibers);
    list_prepend(&share->fibers, &fiber->link);
    if (!has_others)
        list_prepend(&queue->rested, &share->link);
}

/* Of lists that are not both empty: whose turn it is, after those whose quantum is used up have gone to the round's
 * end. */
static struct list *choose_list(struct run_queue *queue)
{
    for (;;) {
        bool rested = !list_is_empty(&queue->rested) &&
                      (list_is_empty(&queue->round) || queue->rested_in_a_row < RESTED_IN_A_ROW);
        struct list *list = rested ? &queue->rested : &queue->round;
        struct share *share = first_share(list);
        if (!renew_credit(share, 0)) {
            queue->rested_in_a_row = rested ? queue->rested_in_a_row + 1 : 0;
            return list;
        }
        list_remove_first(list);
        list_append(&queue->round, &share->link);
    }
}

static struct fiber *remove_next(struct run_queue *queue)
{
    if (!list_is_empty(&queue->urgent))
        return fiber_list_remove_first(&queue->urgent);
    if (list_is_empty(&queue->rested) && list_is_empty(&queue->round))
        return NULL;
    struct list *list = choose_list(queue);
    struct share *share = first_share(list);
    struct fiber *fiber = fiber_list_remove_first(&share->fibers);
    if (list_is_empty(&share->fibers))
        list_remove_first(list);
    return fiber;
}

/* Sequentially consistent: see anything_queued in scheduler.c. */
static void count(struct run_queue *queue, const struct fiber *fiber, ptrdiff_t by)
{
    atomic_fetch_add(&queue->length, (size_t)by);
    if (fiber->urgent)
        atomic_fetch_add(&queue->urgent_length, (size_t)by);
}

void run_queue_push(struct run_queue *queue, size_t worker, struct fiber *fiber)
{
    HOLD_MUTEX(&queue->mutex);
    insert(queue, worker, fiber, false);
    count(queue, fiber, 1);
}

void run_queue_push_first(struct run_queue *queue, size_t worker, struct fiber *fiber)
{
    HOLD_MUTEX(&queue->mutex);
    insert_first(queue, worker, fiber);
    count(queue, fiber, 1);
}

struct fiber *run_queue_take(struct run_queue *queue)
{
    /* Perhaps no longer empty: who goes to sleep looks again. */
    if (run_queue_is_empty(queue))
        return NULL;
    HOLD_MUTEX(&queue->mutex);
    struct fiber *fiber = remove_next(queue);
    if (fiber != NULL)
        count(queue, fiber, -1);
    return fiber;
}

struct fiber *run_queue_exchange(struct run_queue *queue, size_t worker, struct fiber *yielding)
{
    HOLD_MUTEX(&queue->mutex);
    insert(queue, worker, yielding, true);
    struct fiber *fiber = remove_next(queue);
    if (yielding->urgent != fiber->urgent)
        atomic_fetch_add(&queue->urgent_length, yielding->urgent ? (size_t)1 : SIZE_MAX);
    return fiber;
}

void run_queue_take_half(struct run_queue *queue, size_t most, struct list *out)
{
    if (run_queue_is_empty(queue))
        return;
    HOLD_MUTEX(&queue->mutex);
    size_t wanted = MIN((atomic_load_explicit(&queue->length, memory_order_relaxed) + 1) / 2, most);
    for (size_t i = 0; i < wanted; i++) {
        struct fiber *fiber = remove_next(queue);
        count(queue, fiber, -1);
        list_append(out, &fiber->link);
    }
}
