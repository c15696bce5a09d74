/*
 * Results on standard output: an aligned table for people, CSV for programs.
 */
#ifndef KITH_FRONTENDS_CLI_PRINT_H
#define KITH_FRONTENDS_CLI_PRINT_H

#include "frontends/session.h"

enum print_format { PRINT_TABLE, PRINT_CSV };

/* A table's first 10,000 rows are held back to align them; later ones follow the same widths. */
struct printer;
kith_error *printer_new(enum print_format format, struct printer **out) _must_check_;
void printer_free(struct printer *printer);
DEFINE_CLEANUP(printer_free, struct printer)
struct session_sink *printer_sink(struct printer *printer);

#endif
