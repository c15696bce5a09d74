#include "runtime/fiber.h"

#include "base/alloc.h"
#include "runtime/context.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"

static void destroy(struct fiber *fiber)
{
    pthread_mutex_destroy(&fiber->end_mutex);
    error_free(fiber->result);
    free(fiber);
}

kith_error *fiber_spawn(struct runtime *runtime, const struct fiber_options *options, fiber_function function,
                        void *argument, struct fiber **out)
{
    struct fiber *fiber = NULL;
    struct stack stack;
    TRY(stack_pool_take(&runtime->stacks, &stack));
    kith_error *error = NEW(&fiber);
    if (error != NULL) {
        stack_pool_give(&runtime->stacks, stack);
        return error;
    }

    fiber->runtime = runtime;
    fiber->stack = stack;
    fiber->function = function;
    fiber->argument = argument;
    fiber->name = options != NULL ? options->name : NULL;
    fiber->waiter.fiber = fiber;
    share_init(&fiber->own_share);
    pthread_mutex_init(&fiber->end_mutex, NULL);
    fiber->stack_pointer = context_prepare((char *)stack.bottom + stack.size, fiber_main, fiber);
    annotation_init_fiber(&fiber->annotation, stack.bottom, stack.size);

    struct cancel_token *cancel = options != NULL && options->cancel != NULL ? options->cancel : fiber_cancel_token();
    if (cancel != NULL) {
        fiber->cancel = cancel_token_ref(cancel);
        cancel_token_attach(cancel, fiber);
    }
    atomic_fetch_add(&runtime->live_fibers, 1);
    *out = fiber;
    scheduler_make_runnable(fiber);
    return NULL;
}

void fiber_main(void *argument)
{
    struct fiber *fiber = argument;
    annotation_after_switch(&fiber->annotation, &worker_current()->annotation);
    fiber->result = fiber->function(fiber->argument);
    scheduler_switch_out(fiber, SWITCHED_TO_END);
    UNREACHABLE();
}

void fiber_finish(struct fiber *fiber)
{
    struct runtime *runtime = fiber->runtime;
    annotation_destroy_fiber(&fiber->annotation);
    stack_pool_give(&runtime->stacks, fiber->stack);
    if (fiber->cancel != NULL) {
        cancel_token_detach(fiber->cancel, fiber);
        cancel_token_unref(fiber->cancel);
    }
    /* Before the joiner can know, so that a count taken after a join does not include the joined. */
    size_t live = atomic_fetch_sub(&runtime->live_fibers, 1) - 1;

    pthread_mutex_lock(&fiber->end_mutex);
    fiber->ended = true;
    wait_list_wake_all(&fiber->joiner);
    pthread_mutex_unlock(&fiber->end_mutex); /* from here on the joiner may free it */

    if (live == 0) {
        HOLD_MUTEX(&runtime->live_mutex);
        pthread_cond_broadcast(&runtime->live_changed);
    }
}

kith_error *fiber_join(struct fiber *take_fiber)
{
    pthread_mutex_lock(&take_fiber->end_mutex);
    while (!take_fiber->ended) {
        kith_error *error = waiter_wait(&take_fiber->joiner, &take_fiber->end_mutex, WAIT_FOREVER, WAIT_SHIELDED);
        ASSERT(error == NULL); /* nothing but the fiber's end ends this wait */
    }
    pthread_mutex_unlock(&take_fiber->end_mutex);
    kith_error *result = TAKE(take_fiber->result);
    destroy(take_fiber);
    return result;
}

struct fiber *fiber_current(void)
{
    struct worker *worker = worker_current();
    return worker != NULL ? worker->current : NULL;
}

struct cancel_token *fiber_cancel_token(void)
{
    struct fiber *fiber = fiber_current();
    return fiber != NULL ? fiber->cancel : NULL;
}

struct cancel_token *fiber_exchange_token(struct cancel_token *take_token)
{
    struct fiber *fiber = fiber_current();
    if (fiber == NULL)
        return take_token;
    struct cancel_token *before = fiber->cancel;
    if (before != NULL)
        cancel_token_detach(before, fiber);
    fiber->cancel = take_token;
    fiber->group = NULL;
    if (take_token != NULL)
        cancel_token_attach(take_token, fiber);
    worker_current()->cancelled = cancel_token_flag(take_token);
    return before;
}

void fiber_make_urgent(void)
{
    struct fiber *fiber = fiber_current();
    if (fiber != NULL)
        fiber->urgent = true;
}

kith_error *fiber_yield(void)
{
    struct fiber *fiber = fiber_current();
    if (fiber == NULL)
        return NULL;
    return scheduler_yield(fiber, SWITCHED_TO_YIELD);
}
