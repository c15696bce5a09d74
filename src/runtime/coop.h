/*
 * Cooperation: what a fiber may do in one turn before it gives way. A turn has a budget of COOP_BUDGET units. One is
 * taken for each batch that a source, an exchange or a private buffer hands out (coop_hand_out, which
 * stream_next calls), and one for each bounded chunk of work of code that pulls nothing (coop_charge). At zero the
 * fiber yields, and begins a new turn with a full budget when it runs again. A wait ends a turn as well.
 *
 * Both calls are also where code that computes notices that it is cancelled, makes way for urgent fibers, and lets
 * idle threads have what waits behind it.
 *
 * A stream counts by one of three policies (setting execution.cooperation). They differ in whose budget is counted, not
 * in what happens when it is used up: the whole fiber gives way, so two streams in one fiber that count apart cannot
 * cover for each other; together they hand out at most a budget each between two yields.
 *
 *   shared                 the budget of the fiber's turn; outside a fiber nothing is counted
 *   shared_with_fallback   the same in a fiber; outside one the stream counts for itself
 *   per_stream             the stream counts for itself, from a full budget in each turn of its fiber
 *
 * Outside a fiber, on a thread that an embedding program brought, nobody queues behind the caller but the kernel's
 * other threads, among them perhaps the runtime's own. Giving way there means sched_yield.
 */
#ifndef KITH_RUNTIME_COOP_H
#define KITH_RUNTIME_COOP_H

#include "runtime/cancel.h"

#include <stdatomic.h>
#include <string.h>

enum { COOP_BUDGET = 128 };

/* In the order of the setting's words. */
enum coop_policy { COOP_SHARED, COOP_SHARED_WITH_FALLBACK, COOP_PER_STREAM };

/* What a stream counts with. Belongs to the stream, and so to one fiber or thread at a time. */
struct coop {
    enum coop_policy policy;
    unsigned left;               /* where the stream counts for itself */
    uint64_t turn;               /* for which `left` counts */
    const atomic_bool *flag;     /* while set nothing is handed out without a look around; the token's, or always set */
    struct cancel_token *cancel; /* borrowed */
};

/* `cancel` is what the stream's query ends by, whatever fiber pulls it; it may be NULL and outlives what is made. */
struct coop coop_make(enum coop_policy policy, struct cancel_token *cancel);

/* Charges one unit for a batch that is being handed out. Called when the batch is there: a pull that has to wait for
 * its input has taken nothing, and what it then hands out is paid by the turn that the wait's end began. Gives the
 * reason when the fiber or the stream is cancelled. */
kith_error *coop_hand_out(struct coop *coop) _must_check_;

/* Charges `units` to the turn's budget; at zero the fiber yields. For each bounded chunk of work, of a millisecond at
 * most, in a loop that pulls nothing, and for each message or page moved by code that is no stream. Outside a fiber it
 * does nothing. Gives the token's reason when it is cancelled. */
kith_error *coop_charge(unsigned units) _must_check_;

/* The same for what must be done to its end although the query may be cancelled: giving back what it held. */
void coop_give_way(unsigned units);

/* For work that is measured in bytes: what is copied, checked or decoded as one chunk, which takes well below a
 * millisecond at anything above 300 MB/s. */
enum { COOP_CHUNK_BYTES = 256 * 1024 };

/* Charges a unit for each time that COOP_CHUNK_BYTES have been done. `*uncharged` counts what is done and not yet paid
 * for; it belongs to the caller and begins with 0. Called once for each small step, this is an addition. */
static inline kith_error *_must_check_ coop_charge_bytes(size_t *uncharged, size_t bytes)
{
    *uncharged += bytes;
    if (_likely_(*uncharged < COOP_CHUNK_BYTES))
        return NULL;
    *uncharged = 0;
    return coop_charge(1);
}

kith_error *coop_copy_chunks(void *restrict to, const void *restrict from, size_t bytes) _must_check_;

/* memcpy of any number of bytes, charged for by the chunk. After an error some are copied. */
static inline kith_error *_must_check_ coop_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    if (_unlikely_(bytes > COOP_CHUNK_BYTES))
        return coop_copy_chunks(to, from, bytes);
    if (bytes > 0)
        memcpy(to, from, bytes);
    return NULL;
}

/* For a loop of short steps: one unit with every so many, by the step's number. */
static inline kith_error *_must_check_ coop_charge_every(size_t steps, size_t step)
{
    return step % steps == steps - 1 ? coop_charge(1) : NULL;
}

#endif
