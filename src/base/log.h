/*
 * Diagnostics of the program on standard error, one line each with time and level. For what a user must act on
 * use an error; a log line is for whoever runs a worker, so the commands that a user waits for log errors alone.
 */
#ifndef KITH_BASE_LOG_H
#define KITH_BASE_LOG_H

#include "base/macros.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Process-wide; lines above the level are dropped. The default is WARN. */
void log_set_level(enum log_level level);
void log_write(enum log_level level, const char *format, ...) _printf_(2, 3);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
