#include "runtime/thread.h"

#include <signal.h>

kith_error *thread_start(pthread_t *out, const char *name, void *(*function)(void *argument), void *argument)
{
    /* The mask is inherited, so no signal can arrive between the thread's start and its own change of it. */
    sigset_t all, before;
    sigfillset(&all);
    /* A blocked fault kills without its handler's report. */
    const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(out, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0)
        return error_from_errno(result, "starting thread %s", name);
    pthread_setname_np(*out, name);
    return NULL;
}
