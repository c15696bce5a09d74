/*
 * NetworkCoalesceExec: reads another stage; partition i is the output of its task i. How the bytes travel is behind the
 * context's boundary source.
 */
#include "exec/operators.h"

static kith_error *execute(struct operator* operator, size_t partition, struct stream **out)
{
    struct boundary_source *boundary = operator->context->boundary;
    if (boundary == NULL)
        return error_new(KITH_ERROR_INTERNAL, "stage %u is read outside of a cluster", operator->plan->network.stage);
    return boundary->open(boundary, operator->plan->network.stage, partition, operator->plan->schema, operator->metrics,
                          out);
}

static void free_network(struct operator* operator)
{
    free(operator);
}

static const struct operator_ops ops = {.execute = execute, .free = free_network};

kith_error *network_operator_new(struct operator** out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
