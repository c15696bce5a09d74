/*
 * What encoder and decoder of plans share among their files. Private to this folder.
 */
#ifndef KITH_WIRE_PLAN_PARTS_H
#define KITH_WIRE_PLAN_PARTS_H

#include "base/vec.h"
#include "plan/physical.h"
#include "wire/expr_codec.h"

/* Messages are made in `arena` and borrow from the plan. */
kith_error *scan_encode(const struct physical_plan *plan, struct arena *arena,
                        Datafusion__ParquetScanExecNode **out) _must_check_;
/* The filter as a node with its id: over `exprs`, with their orders, and not yet excluding anything. */
kith_error *dynamic_filter_encode(uint64_t id, const struct sort_expr *exprs, size_t count, struct arena *arena,
                                  Datafusion__PhysicalExprNode **out) _must_check_;

/* A dynamic filter of a scan, until the whole plan is there and its producer is known. */
struct scan_filter {
    struct parquet_scan *scan;
    size_t index;            /* in the scan's dynamic_filters */
    struct sort_expr *exprs; /* those of it, to be completed */
    bool has_orders;         /* false: they are those of the sort that has the filter */
};

struct plan_decoder {
    struct plan_arena *plans;
    struct arena *arena; /* of `plans` */
    struct expr_decoder exprs;
    size_t operators; /* decoded so far */
    VEC(struct scan_filter) filters;
    VEC(const struct physical_plan *) producers; /* sorts that tighten a filter */
};

/* Fills the scan *in_out and lists its filters. Where it computes, or keeps a limit by itself,
 * *in_out becomes an operator over it. */
kith_error *scan_decode(struct plan_decoder *decoder, const Datafusion__ParquetScanExecNode *message,
                        struct physical_plan **in_out) _must_check_;

/* An operator over `input`, or over none: schema and partitions are its input's until the caller says otherwise. */
kith_error *plan_decoder_operator(struct plan_decoder *decoder, enum physical_kind kind, struct physical_plan *input,
                                  struct physical_plan **out) _must_check_;

/* A projection of `input` to `count` expressions over it, named by `names`. */
kith_error *plan_decoder_project(struct plan_decoder *decoder, const struct expr **exprs, const char *const *names,
                                 size_t count, struct physical_plan *input, struct physical_plan **out) _must_check_;

/* Keeps the schema for the plan's life; *out is it. On error it is released. */
kith_error *plan_decoder_keep_schema(struct plan_decoder *decoder, struct schema *take_schema,
                                     struct schema **out) _must_check_;

/* Brings filters and their producers together: keys and orders of all that share an id must agree. A filter that has
 * no producer here and came without orders is dropped, since no bound could be read by it; it would only have saved
 * work. */
kith_error *plan_link_filters(struct plan_decoder *decoder) _must_check_;

#endif
