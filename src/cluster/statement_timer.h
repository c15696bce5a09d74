/*
 * statement_timeout: cancels what runs under a token when the setting's time has passed, from planning to the last row.
 * Belongs to one fiber.
 */
#ifndef KITH_CLUSTER_STATEMENT_TIMER_H
#define KITH_CLUSTER_STATEMENT_TIMER_H

#include "base/settings.h"
#include "runtime/cancel.h"
#include "runtime/runtime.h"

struct statement_timer;

/* *out = NULL where the setting is 0. `cancel` is borrowed until the timer is stopped. */
kith_error *statement_timer_start(struct runtime *runtime, const struct settings *settings, struct cancel_token *cancel,
                                  struct statement_timer **out) _must_check_;
void statement_timer_stop(struct statement_timer *timer);
DEFINE_CLEANUP(statement_timer_stop, struct statement_timer)

#endif
