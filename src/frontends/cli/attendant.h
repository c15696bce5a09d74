/*
 * A thread beside the runtime that serves the person at the terminal while statements run: Ctrl-C cancels the query (a
 * second one ends the program), and a query that takes more than a second gets a progress line on standard error, if
 * that is a terminal.
 */
#ifndef KITH_FRONTENDS_CLI_ATTENDANT_H
#define KITH_FRONTENDS_CLI_ATTENDANT_H

#include "frontends/session.h"

struct attendant;

/* Blocks SIGINT and SIGTERM in the calling thread and all that it starts later: call it before the runtime is made. */
void attendant_block_signals(void);

kith_error *attendant_start(struct session *session, bool show_progress, struct attendant **out) _must_check_;
/* Ends the thread and clears its line. */
void attendant_stop(struct attendant *attendant);
DEFINE_CLEANUP(attendant_stop, struct attendant)

/* Waits for SIGINT or SIGTERM; for a program that runs until told to end. */
void attendant_wait_for_signal(void);

#endif
