/*
 * SQL text to syntax trees. The grammar is PostgreSQL 15's, by libpg_query; CREATE EXTERNAL TABLE, which it lacks, is
 * parsed in parse_external_table.c. A script is a text of one or more statements; each statement's tree stays valid for
 * the script's life.
 *
 * libpg_query overflows the stack on long operator chains. So it is called on a large stack, under limits on
 * bytes, tokens and the depth of the tree that comes out; what follows may recurse over the tree.
 */
#ifndef KITH_SQL_PARSE_H
#define KITH_SQL_PARSE_H

#include "base/strbuf.h"

/* CREATE EXTERNAL TABLE [IF NOT EXISTS] name STORED AS PARQUET LOCATION 'pattern' */
struct sql_external_table {
    char *name;
    char *location;
    bool or_replace;
    bool if_not_exists;
};

struct sql_script;

kith_error *sql_parse(struct str text, struct sql_script **out) _must_check_;
void sql_script_free(struct sql_script *script);
DEFINE_CLEANUP(sql_script_free, struct sql_script)

size_t sql_script_count(const struct sql_script *script);

/* One statement: exactly one of `node` and `external_table` is set. Locations in the tree count from `offset` in the
 * text. */
struct sql_syntax {
    const void *node; /* PgQuery__Node */
    const struct sql_external_table *external_table;
    size_t offset;
    struct str text; /* of the statement alone */
};
struct sql_syntax sql_script_statement(const struct sql_script *script, size_t i);

#endif
