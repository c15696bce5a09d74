/*
 * Physical plans as bytes: DataFusion's protobuf vocabulary (proto/datafusion.proto, proto/datafusion_common.proto; the
 * field numbers are DataFusion's). What that vocabulary lacks travels in extension nodes (proto/kith_plan.proto) with
 * presence-tracked fields.
 *
 * Decoding trusts nothing: size and nesting are checked on the bytes before they are unpacked, and every index, type
 * and count afterwards. A node, expression, function or field that Kith does not know and that changes the meaning is
 * NOT_IMPLEMENTED with its name, never passed over.
 */
#ifndef KITH_WIRE_PLAN_CODEC_H
#define KITH_WIRE_PLAN_CODEC_H

#include "plan/physical.h"

/* Appends a PhysicalPlanNode. Scans are sent by path, size and modification time of their files. */
kith_error *plan_encode(const struct physical_plan *plan, struct strbuf *out) _must_check_;

/* The plan and all it refers to live in `arena`. */
kith_error *plan_decode(const uint8_t *bytes, size_t length, struct plan_arena *arena,
                        struct physical_plan **out) _must_check_;

#endif
