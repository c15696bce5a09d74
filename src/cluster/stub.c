#include "cluster/cluster.h"
#include "cluster/worker.h"
kith_error *cluster_connect(struct runtime *runtime, const char *const *a, size_t count,
                            const struct settings *settings, struct cluster **out)
{
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "cluster");
}
void cluster_free(struct cluster *cluster)
{
}
kith_error *worker_new(struct runtime *runtime, const struct worker_options *options, struct worker **out)
{
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "cluster");
}
kith_error *worker_listen(struct worker *worker, const char *address, const char **out_address)
{
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "cluster");
}
void worker_free(struct worker *worker)
{
}
