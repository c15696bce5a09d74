/*
 * The one statement that PostgreSQL's grammar lacks and DataFusion's users know:
 * CREATE [OR REPLACE] EXTERNAL TABLE [IF NOT EXISTS] name STORED AS PARQUET LOCATION 'pattern'
 */
#ifndef KITH_SQL_PARSE_EXTERNAL_TABLE_H
#define KITH_SQL_PARSE_EXTERNAL_TABLE_H

#include "sql/parse.h"

/* Whether the statement begins so. */
bool sql_is_external_table(struct str statement);

/* `offset` is the statement's place in the text. *out's strings are owned by the caller, on error too. */
kith_error *sql_parse_external_table(struct str statement, size_t offset, struct sql_external_table *out) _must_check_;

#endif
