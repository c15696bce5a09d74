/*
 * NetworkCoalesceExec: reads another stage; partition i is the output of its task i. How the bytes travel is behind the
 * context's boundary source. A batch is what another process made it: one that is too large is split.
 */
#include "exec/batch_split.h"
#include "exec/operators.h"

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct boundary_source *boundary = node->context->boundary;
    if (boundary == NULL)
        return error_new(KITH_ERROR_INTERNAL, "stage %u is read outside of a cluster", node->plan->network.stage);
    struct stream *rows = NULL;
    TRY(boundary->open(boundary, node->plan->network.stage, partition, node->plan->schema, node->metrics, &rows));
    rows->coop = operator_coop(node);
    return batch_split_stream_new(rows, (size_t)settings_get(&node->context->settings, SETTING_BATCH_SIZE), rows->coop,
                                  node->metrics, out);
}

static void free_network(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_network};

kith_error *network_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
