#include "wire/message_parts.h"

kith_error *worker_info_encode(const struct worker_info *info, struct strbuf *out)
{
    Kith__V1__GetWorkerInfoResponse message;
    _cleanup_(arena_reset) struct arena arena = {0};
    kith__v1__get_worker_info_response__init(&message);
    TRY(arena_string(&arena, info->version, strlen(info->version), &message.version));
    message.maybe_protocol_version_case = KITH__V1__GET_WORKER_INFO_RESPONSE__MAYBE_PROTOCOL_VERSION_PROTOCOL_VERSION;
    message.protocol_version = info->protocol_version;
    message.maybe_capabilities_case = KITH__V1__GET_WORKER_INFO_RESPONSE__MAYBE_CAPABILITIES_CAPABILITIES;
    message.capabilities = info->capabilities;
    message.maybe_processors_case = KITH__V1__GET_WORKER_INFO_RESPONSE__MAYBE_PROCESSORS_PROCESSORS;
    message.processors = info->processors;
    return protobuf_write(&message.base, out);
}

/* A peer that says nothing of a protocol version has none of ours: 0, which equals no version. */
kith_error *worker_info_decode(struct str bytes, struct arena *arena, struct worker_info *out)
{
    _cleanup_(arena_reset) struct arena scratch = {0};
    Kith__V1__GetWorkerInfoResponse *message;
    char *version;
    TRY(message_read(&kith__v1__get_worker_info_response__descriptor, bytes, "a worker's answer about itself", &scratch,
                     &message));
    TRY(arena_string(arena, message->version, strlen(message->version), &version));
    *out = (struct worker_info){.version = version};
    if (message->maybe_protocol_version_case != 0)
        out->protocol_version = message->protocol_version;
    if (message->maybe_capabilities_case != 0)
        out->capabilities = message->capabilities;
    if (message->maybe_processors_case != 0)
        out->processors = message->processors;
    return NULL;
}
