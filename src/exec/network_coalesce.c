/*
 * NetworkCoalesceExec: reads another stage; partition i is the output of its task i. How the bytes travel is behind the
 * context's boundary source.
 */
#include "exec/operators.h"

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct boundary_source *boundary = node->context->boundary;
    if (boundary == NULL)
        return error_new(KITH_ERROR_INTERNAL, "stage %u is read outside of a cluster", node->plan->network.stage);
    TRY(boundary->open(boundary, node->plan->network.stage, partition, node->plan->schema, node->metrics, out));
    (*out)->coop = operator_coop(node);
    return NULL;
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
