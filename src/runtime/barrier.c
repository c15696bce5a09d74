#include "base/alloc.h"
#include "runtime/mutex.h"
#include "runtime/sync.h"

struct barrier {
    size_t parties;
    pthread_mutex_t mutex; /* guards the rest */
    size_t arrived;        /* in this round */
    uint64_t round;        /* counts up each time all have come */
    struct wait_list waiting;
};

kith_error *barrier_new(size_t parties, struct barrier **out)
{
    ASSERT(parties > 0);
    struct barrier *barrier = NULL;
    TRY(NEW(&barrier));
    barrier->parties = parties;
    pthread_mutex_init(&barrier->mutex, NULL);
    *out = barrier;
    return NULL;
}

void barrier_free(struct barrier *barrier)
{
    if (barrier == NULL)
        return;
    pthread_mutex_destroy(&barrier->mutex);
    free(barrier);
}

kith_error *barrier_wait(struct barrier *barrier)
{
    HOLD_MUTEX(&barrier->mutex);
    uint64_t round = barrier->round;
    if (++barrier->arrived == barrier->parties) {
        barrier->arrived = 0;
        barrier->round++;
        wait_list_wake_all(&barrier->waiting);
        return NULL;
    }
    while (barrier->round == round) {
        kith_error *error = wait_list_wait(&barrier->waiting, &barrier->mutex, WAIT_FOREVER);
        if (error != NULL && barrier->round == round)
            barrier->arrived--; /* this party leaves; the round stays open for another */
        TRY(error);
    }
    return NULL;
}
