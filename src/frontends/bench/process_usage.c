#include "frontends/bench/process_usage.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return used.tv_sec * NANOSECONDS_PER_SECOND + used.tv_nsec;
}

bool process_reset_peak(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/clear_refs", (long)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = write(fd, "5", 1) == 1; /* proc(5): resets the peak resident set size */
    close(fd);
    return done;
}

uint64_t process_peak_bytes(pid_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length < 0 ? 0 : length] = '\0';
    const char *line = strstr(text, "VmHWM:");
    return line == NULL ? 0 : strtoull(line + strlen("VmHWM:"), NULL, 10) << 10;
}
