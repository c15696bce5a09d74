/*
 * How a plan is to be explained, as EXPLAIN's options say.
 */
#ifndef KITH_PLAN_EXPLAIN_OPTIONS_H
#define KITH_PLAN_EXPLAIN_OPTIONS_H

#include <stdbool.h>

enum explain_format { EXPLAIN_TEXT, EXPLAIN_JSON };

struct explain_options {
    bool analyze; /* the query runs, and what it counted is shown */
    bool verbose; /* the logical plan as well; in text, each task's operators */
    enum explain_format format;
};

#endif
