#include "runtime/wait.h"

#include "runtime/futex.h"
#include "runtime/scheduler.h"

static void append(struct wait_list *list, struct waiter *waiter)
{
    waiter->list = list;
    waiter->next = NULL;
    waiter->previous = list->last;
    if (list->last != NULL)
        list->last->next = waiter;
    else
        list->first = waiter;
    list->last = waiter;
}

static void remove_waiter(struct waiter *waiter)
{
    struct wait_list *list = waiter->list;
    if (waiter->previous != NULL)
        waiter->previous->next = waiter->next;
    else
        list->first = waiter->next;
    if (waiter->next != NULL)
        waiter->next->previous = waiter->previous;
    else
        list->last = waiter->previous;
    waiter->list = NULL;
}

bool waiter_wake(struct waiter *waiter, enum waiter_state outcome)
{
    unsigned seen = atomic_load(&waiter->state);
    do {
        if (seen != WAITER_PREPARING && seen != WAITER_PARKED)
            return false;
    } while (!atomic_compare_exchange_weak(&waiter->state, &seen, outcome));

    if (seen == WAITER_PARKED) {
        if (waiter->fiber != NULL)
            scheduler_make_runnable(waiter->fiber);
        else
            futex_wake(&waiter->state);
    }
    return true;
}

bool waiter_commit(struct waiter *waiter)
{
    unsigned expected = WAITER_PREPARING;
    return atomic_compare_exchange_strong(&waiter->state, &expected, WAITER_PARKED);
}

static kith_error *timeout_error(void)
{
    return error_new(KITH_ERROR_TIMEOUT, "the wait took longer than its deadline allows");
}

static void unlock_if_any(pthread_mutex_t *mutex)
{
    if (mutex != NULL)
        pthread_mutex_unlock(mutex);
}

static void lock_if_any(pthread_mutex_t *mutex)
{
    if (mutex != NULL)
        pthread_mutex_lock(mutex);
}

static kith_error *thread_wait(struct wait_list *list, pthread_mutex_t *mutex, int64_t deadline_ns)
{
    struct waiter waiter = {.deadline_ns = deadline_ns};
    atomic_init(&waiter.state, WAITER_PARKED);
    if (list != NULL)
        append(list, &waiter);
    unlock_if_any(mutex);

    while (atomic_load(&waiter.state) == WAITER_PARKED) {
        unsigned seen = WAITER_PARKED;
        if (!futex_wait(&waiter.state, WAITER_PARKED, deadline_ns))
            atomic_compare_exchange_strong(&waiter.state, &seen, WAITER_TIMED_OUT);
    }

    lock_if_any(mutex);
    if (waiter.list != NULL)
        remove_waiter(&waiter);
    return atomic_load(&waiter.state) == WAITER_TIMED_OUT ? timeout_error() : NULL;
}

kith_error *waiter_wait(struct wait_list *list, pthread_mutex_t *mutex, int64_t deadline_ns, enum wait_shield shield)
{
    struct fiber *fiber = fiber_current();
    if (fiber == NULL)
        return thread_wait(list, mutex, deadline_ns);

    struct cancel_token *token = shield == WAIT_CANCELLABLE ? fiber->cancel : NULL;
    struct runtime *runtime = fiber->runtime;
    if (deadline_ns >= 0 && clock_monotonic_ns(runtime->clock) >= deadline_ns) {
        TRY(cancel_token_check(token));
        return timeout_error();
    }

    struct waiter *waiter = &fiber->waiter;
    waiter->deadline_ns = deadline_ns;
    atomic_store(&waiter->state, WAITER_PREPARING);
    if (list != NULL)
        append(list, waiter);
    kith_error *error = deadline_ns >= 0 ? timers_add(&runtime->timers, waiter) : NULL;

    /* Sequentially consistent with the store above: a canceller sets its flag and then looks at the state, so either
     * it sees that this fiber waits, or this fiber sees the flag. */
    if (error == NULL && (token == NULL || !cancel_token_is_cancelled(token))) {
        unlock_if_any(mutex);
        scheduler_switch_out(fiber, SWITCHED_TO_WAIT);
        lock_if_any(mutex);
    }

    unsigned outcome = atomic_exchange(&waiter->state, WAITER_RUNNING);
    if (waiter->list != NULL)
        remove_waiter(waiter);
    if (deadline_ns >= 0)
        timers_remove(&runtime->timers, waiter);

    if (error != NULL || outcome == WAITER_WOKEN)
        return error;
    return outcome == WAITER_TIMED_OUT ? timeout_error() : cancel_token_check(token);
}

kith_error *wait_list_wait(struct wait_list *list, pthread_mutex_t *mutex, int64_t deadline_ns)
{
    return waiter_wait(list, mutex, deadline_ns, WAIT_CANCELLABLE);
}

void wait_list_wake_one(struct wait_list *list)
{
    while (list->first != NULL) {
        struct waiter *waiter = list->first;
        remove_waiter(waiter);
        /* One that was cancelled or timed out will not use this wake-up: it goes to the next. */
        if (waiter_wake(waiter, WAITER_WOKEN))
            return;
    }
}

void wait_list_wake_all(struct wait_list *list)
{
    while (list->first != NULL) {
        struct waiter *waiter = list->first;
        remove_waiter(waiter);
        waiter_wake(waiter, WAITER_WOKEN);
    }
}

kith_error *sleep_until(int64_t deadline_ns)
{
    kith_error *error = waiter_wait(NULL, NULL, deadline_ns, WAIT_CANCELLABLE);
    if (error == NULL || kith_error_code(error) != KITH_ERROR_TIMEOUT)
        return error;
    error_free(error);
    /* The reason of a cancellation may be a timeout too: of the query, say. */
    return cancel_token_check(fiber_cancel_token());
}
