/*
 * Batches of at most so many rows out of larger ones, in the same order: slices that share the columns of the batch
 * they are cut from, which stays alive as long as one of them does. Batches that are not too large pass unchanged,
 * empty ones too, and so do errors.
 *
 * The pull of the input has paid for the first slice; each one after that is handed out of a private buffer and charged
 * to the stream's budget. Put over streams whose batches another program has made.
 */
#ifndef KITH_EXEC_BATCH_SPLIT_H
#define KITH_EXEC_BATCH_SPLIT_H

#include "exec/stream.h"
#include "plan/metrics.h"

/* `rows` of a batch at most. Slices are counted in `metrics` (batches_split) by the time that their batch is used up or
 * the stream is freed. */
kith_error *batch_split_stream_new(struct stream *take_input, size_t rows, struct coop coop, struct metric_set *metrics,
                                   struct stream **out) _must_check_;

#endif
