#include "frontends/bench/topk_fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORT_FD = 3, VARIABLES = 4 };
static const char variable_prefix[] = "TOPK_RESOURCE_";
static const char awaited_variable[] = "TOPK_RESOURCE_HAND_BACK";

struct environment {
    char variables[VARIABLES][96];
    char **list;
};

/* This process's environment with the variables in it. */
static kith_error *make_environment(const struct topk_fresh *fresh, const struct topk_arm *arm, size_t queries,
                                    struct environment *out)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    TRY(NEW_ARRAY(&out->list, count + VARIABLES + 1));
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], variable_prefix, sizeof variable_prefix - 1) != 0)
            out->list[kept++] = environ[i];
    snprintf(out->variables[0], sizeof out->variables[0], "TOPK_RESOURCE_CASE=%s/%zu", fresh->topk_case->query->name,
             fresh->topk_case->tasks);
    snprintf(out->variables[1], sizeof out->variables[1], "TOPK_RESOURCE_ARM=%s", arm->name);
    snprintf(out->variables[2], sizeof out->variables[2], "TOPK_RESOURCE_QUERIES=%zu", queries);
    snprintf(out->variables[3], sizeof out->variables[3], "%s=1", awaited_variable);
    for (size_t i = 0; i < VARIABLES; i++)
        out->list[kept++] = out->variables[i];
    return NULL;
}

/* The other process writes to its descriptor REPORT_FD what is read from *out; its standard output goes nowhere. */
static kith_error *start(const struct topk_fresh *fresh, char *const *environment, pid_t *pid, int *out)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_from_errno(errno, "cannot start a fresh process");
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed == 0) {
        failed = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (failed == 0)
            failed = posix_spawn_file_actions_adddup2(&actions, ends[1], REPORT_FD);
        if (failed == 0)
            failed = posix_spawn(pid, "/proc/self/exe", &actions, NULL, fresh->arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    *out = ends[0];
    if (failed == 0)
        return NULL;
    close(ends[0]);
    return error_from_errno(failed, "cannot start a fresh process");
}

static bool read_all(int fd, void *data, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = read(fd, (char *)data + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

kith_error *topk_fresh_run(const struct topk_fresh *fresh, const struct topk_arm *arm, size_t queries,
                           struct topk_resources *out)
{
    struct environment environment = {0};
    pid_t pid;
    int fd, status;
    kith_error *error = make_environment(fresh, arm, queries, &environment);
    if (error == NULL)
        error = start(fresh, environment.list, &pid, &fd);
    free(environment.list);
    TRY(error);
    bool came = read_all(fd, out, sizeof *out);
    close(fd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!came || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_new(KITH_ERROR_UNAVAILABLE, "a fresh process for %s/%zu with the arm %s has failed",
                         fresh->topk_case->query->name, fresh->topk_case->tasks, arm->name);
    return NULL;
}

static kith_error *run_turn(struct topk_runner *runner, const struct topk_arm *arm, size_t queries,
                            struct topk_block *out)
{
    struct topk_resources resources;
    TRY(topk_fresh_run(CONTAINER_OF(runner, struct topk_fresh, runner), arm, queries, &resources));
    *out = resources.block;
    return NULL;
}

void topk_fresh_init(struct topk_fresh *fresh, const struct topk_case *topk_case, char *const *arguments)
{
    *fresh = (struct topk_fresh){.runner = {run_turn}, .topk_case = topk_case, .arguments = arguments};
}

bool topk_fresh_is_awaited(void)
{
    if (getenv(awaited_variable) == NULL || fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return true;
}

kith_error *topk_fresh_hand_back(const struct topk_resources *resources)
{
    size_t done = 0;
    while (done < sizeof *resources) {
        ssize_t n = write(REPORT_FD, (const char *)resources + done, sizeof *resources - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_from_errno(errno, "cannot hand back what was measured");
        done += (size_t)n;
    }
    return NULL;
}
