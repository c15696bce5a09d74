/*
 * Values of command-line options.
 */
#ifndef KITH_FRONTENDS_CLI_OPTIONS_H
#define KITH_FRONTENDS_CLI_OPTIONS_H

#include "base/error.h"

/* A whole number from 0 to `most`. */
kith_error *option_count(const char *name, const char *text, size_t most, size_t *out) _must_check_;

/* NAME=VALUE in two: the name ends at `option`'s terminator. `what` is the option, for the error. */
kith_error *option_assignment(const char *what, char *option, char **value) _must_check_;

/* getopt has told which one it was. */
kith_error *option_unknown(const char *command) _must_check_;

#endif
