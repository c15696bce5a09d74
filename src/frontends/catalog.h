/*
 * The tables of a session, by name. PostgreSQL's rule for names: what is not quoted is lower case.
 */
#ifndef KITH_FRONTENDS_CATALOG_H
#define KITH_FRONTENDS_CATALOG_H

#include "base/vec.h"
#include "sql/statement.h"

struct catalog {
    struct sql_catalog interface; /* for the binder */
    VEC(char *) names;
    VEC(struct table *) tables; /* parallel to names */
};

void catalog_init(struct catalog *catalog);
void catalog_reset(struct catalog *catalog);

/* INVALID_ARGUMENT when the name is taken, unless `replace`. */
kith_error *catalog_add(struct catalog *catalog, const char *name, struct table *take_table, bool replace) _must_check_;
bool catalog_has(const struct catalog *catalog, const char *name);
/* UNDEFINED_TABLE when there is none of that name. */
kith_error *catalog_drop(struct catalog *catalog, const char *name) _must_check_;

#endif
