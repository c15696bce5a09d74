#include "exec/stream.h"

kith_error *stream_hand_out(struct stream *stream, struct batch **out)
{
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(stream->ops->next(stream, &batch));
    if (batch != NULL)
        TRY(coop_hand_out(&stream->coop));
    *out = TAKE(batch);
    return NULL;
}
