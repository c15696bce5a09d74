/*
 * Parts that several messages between coordinator and worker have in common, and the way all of them are read. Private
 * to this folder.
 */
#ifndef KITH_WIRE_MESSAGE_PARTS_H
#define KITH_WIRE_MESSAGE_PARTS_H

#include "wire/protobuf.h"
#include "wire/worker_messages.h"

#include "kith_worker.pb-c.h"

/* What a list of names (settings, metrics of an operator) may have: more than any version of Kith will know, and few
 * enough to look each up. */
enum { MESSAGE_MOST_NAMES = 1000 };

/* As protobuf_read, into an arena that is limited to PLAN_UNPACKED_BYTES; `what` names the message in errors. */
kith_error *message_read(const ProtobufCMessageDescriptor *type, struct str bytes, const char *what,
                         struct arena *scratch, void *out_message) _must_check_;

kith_error *task_key_encode(const struct task_key *key, struct arena *arena, Kith__V1__TaskKey **out) _must_check_;
/* PROTOCOL when it is missing or its query id has not 16 bytes. */
kith_error *task_key_decode(const Kith__V1__TaskKey *message, struct task_key *out) _must_check_;

kith_error *bound_message_encode(const struct bound_message *bound, struct arena *arena,
                                 Kith__V1__DynamicFilterBound **out) _must_check_;
kith_error *bound_message_decode(const Kith__V1__DynamicFilterBound *message, struct arena *arena,
                                 struct bound_message *out) _must_check_;

/* Metrics by name, those of 0 left out; names that are not known are passed over. */
kith_error *metrics_set_encode(const uint64_t *values, struct arena *arena, Kith__V1__MetricsSet **out) _must_check_;
kith_error *metrics_set_decode(const Kith__V1__MetricsSet *message, uint64_t *values) _must_check_;

kith_error *ranks_message_encode(const struct ranks_message *ranks, struct arena *arena,
                                 Kith__V1__DynamicFilterRanks **out) _must_check_;
/* PROTOCOL unless there are as many values in each, and more rows at each step. */
kith_error *ranks_message_decode(const Kith__V1__DynamicFilterRanks *message, struct arena *arena,
                                 struct ranks_message *out) _must_check_;

#endif
