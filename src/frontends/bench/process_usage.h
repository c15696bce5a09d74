/*
 * Processor time and memory of processes, this one and its workers, between two moments.
 */
#ifndef KITH_FRONTENDS_BENCH_PROCESS_USAGE_H
#define KITH_FRONTENDS_BENCH_PROCESS_USAGE_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* User and system time of all threads of the process so far; 0 when it has gone. */
int64_t process_cpu_ns(pid_t pid);

/* Peak memory counts from here on. False where the system does not allow that; peaks then include what came before. */
bool process_reset_peak(pid_t pid);
/* Most resident bytes since; 0 = not known. */
uint64_t process_peak_bytes(pid_t pid);

#endif
