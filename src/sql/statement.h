/*
 * Bound statements: what a script asks for, with names resolved and types derived.
 */
#ifndef KITH_SQL_STATEMENT_H
#define KITH_SQL_STATEMENT_H

#include "base/settings.h"
#include "plan/explain_options.h"
#include "plan/logical.h"
#include "sql/parse.h"

enum statement_kind {
    STATEMENT_QUERY,
    STATEMENT_EXPLAIN,
    STATEMENT_COPY_TO,
    STATEMENT_CREATE_TABLE,
    STATEMENT_DROP_TABLE,
    STATEMENT_SET,
    STATEMENT_SHOW,
    STATEMENT_SHOW_ALL,
    STATEMENT_SHOW_TABLES
};

/* The plan lives in the arena that was given to sql_bind; other texts there or in the script. */
struct statement {
    enum statement_kind kind;
    struct logical_plan *plan; /* QUERY, EXPLAIN, COPY_TO */
    struct explain_options explain;
    struct {
        const char *path;
        struct settings settings; /* the session's, with what the statement's options say about the file */
    } copy;
    struct {
        const char *name;
        const char *location;
        bool or_replace;
        bool if_exists; /* CREATE: IF NOT EXISTS; DROP: IF EXISTS */
    } table;
    enum setting setting; /* SET, SHOW */
    const char *value;    /* SET: text of the new value; NULL = the default */
};

/* Where table names are looked up. */
struct sql_catalog {
    /* A new reference, or NULL when there is no such table. */
    kith_error *(*find)(struct sql_catalog *catalog, const char *name, struct table **out);
    /* read_parquet('pattern'). */
    kith_error *(*open)(struct sql_catalog *catalog, const char *pattern, struct table **out);
    /* Names for "did you mean"; borrowed until the next call. */
    size_t (*names)(struct sql_catalog *catalog, const char *const **out);
};

/* Binds one statement of a script. Plans, expressions and texts live in `arena`. Errors carry the position in the
 * script. */
kith_error *sql_bind(const struct sql_syntax *syntax, struct sql_catalog *catalog, const struct settings *settings,
                     struct plan_arena *arena, struct statement *out) _must_check_;

#endif
