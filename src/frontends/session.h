/*
 * A session: settings, tables and workers, and the SQL statements run against them. What a front end shows is up to it:
 * a session hands results to a sink. One session is used by one fiber at a time; session_cancel and session_progress by
 * any thread.
 */
#ifndef KITH_FRONTENDS_SESSION_H
#define KITH_FRONTENDS_SESSION_H

#include "cluster/query.h"

struct session;

kith_error *session_new(struct runtime *runtime, struct session **out) _must_check_;
void session_free(struct session *session);
DEFINE_CLEANUP(session_free, struct session)

/* Queries may be spread over the cluster's workers from now on; it is borrowed. */
void session_use_cluster(struct session *session, struct cluster *cluster);

const struct settings *session_settings(const struct session *session);
kith_error *session_set(struct session *session, const char *name, const char *value) _must_check_;

/* Names files; opens them at once, so that a mistake is told here. From a fiber. */
kith_error *session_add_table(struct session *session, const char *name, const char *pattern,
                              bool replace) _must_check_;

/* Where rows go. `begin` comes once for each statement that has rows, then `batch` for each batch, then `end`. */
struct session_sink {
    kith_error *(*begin)(struct session_sink *sink, struct schema *schema);
    kith_error *(*batch)(struct session_sink *sink, struct batch *batch);
    kith_error *(*end)(struct session_sink *sink, uint64_t rows);
    /* A text to be shown as it is: a plan. */
    kith_error *(*text)(struct session_sink *sink, const char *text);
    /* A statement without rows is done: "CREATE TABLE", "COPY 100". */
    kith_error *(*done)(struct session_sink *sink, const char *tag);
    /* May be NULL. Before `end`: the query, finished, for who wants its metrics. */
    kith_error *(*finished)(struct session_sink *sink, struct query *query);
};

/* Runs the statements of a text in order; the first error ends it, with its position in the text. From a fiber. */
kith_error *session_run(struct session *session, struct str sql, struct session_sink *sink) _must_check_;

/* Ends the query that runs, if any, with CANCELLED. */
void session_cancel(struct session *session);
/* False when no query runs. */
bool session_progress(struct session *session, struct query_progress *out);

#endif
