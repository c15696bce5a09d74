/*
 * Errors as a person reads them: message and causes, the line of SQL with a mark under the place, and the hint.
 */
#ifndef KITH_FRONTENDS_CLI_REPORT_H
#define KITH_FRONTENDS_CLI_REPORT_H

#include "base/error.h"

/* To standard error. `sql` is the text that positions count in, or NULL. */
void report_error(const kith_error *error, const char *sql);

#endif
