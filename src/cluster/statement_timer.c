#include "cluster/statement_timer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/fiber.h"
#include "runtime/sync.h"

struct statement_timer {
    struct runtime *runtime;
    int64_t timeout_ms;
    struct cancel_token *cancel;
    struct cancel_token *stop; /* of the fiber, which is not under `cancel` */
    struct fiber *fiber;
};

static kith_error *cancel_in_time(void *argument)
{
    const struct statement_timer *timer = argument;
    int64_t now = clock_monotonic_ns(runtime_clock(timer->runtime));
    fiber_make_urgent();
    TRY(sleep_until(now + timer->timeout_ms * NANOSECONDS_PER_MILLISECOND));
    cancel_token_cancel(
        timer->cancel,
        error_hint(error_new(KITH_ERROR_TIMEOUT, "the query took longer than the statement_timeout of %lld ms",
                             (long long)timer->timeout_ms),
                   "SET statement_timeout = 0 lets queries run for as long as they take."));
    return NULL;
}

kith_error *statement_timer_start(struct runtime *runtime, const struct settings *settings, struct cancel_token *cancel,
                                  struct statement_timer **out)
{
    _cleanup_(statement_timer_stop) struct statement_timer *timer = NULL;
    *out = NULL;
    if (settings_get(settings, SETTING_STATEMENT_TIMEOUT) == 0)
        return NULL;
    TRY(NEW(&timer));
    timer->runtime = runtime;
    timer->timeout_ms = settings_get(settings, SETTING_STATEMENT_TIMEOUT);
    timer->cancel = cancel;
    TRY(cancel_token_new(NULL, &timer->stop));
    const struct fiber_options options = {.name = "statement timeout", .cancel = timer->stop};
    TRY(fiber_spawn(runtime, &options, cancel_in_time, timer, &timer->fiber));
    *out = TAKE(timer);
    return NULL;
}

void statement_timer_stop(struct statement_timer *timer)
{
    if (timer == NULL)
        return;
    if (timer->fiber != NULL) {
        cancel_token_cancel(timer->stop, NULL);
        error_free(fiber_join(timer->fiber));
    }
    cancel_token_unref(timer->stop);
    free(timer);
}
