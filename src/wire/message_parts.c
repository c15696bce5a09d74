#include "wire/message_parts.h"

#include "base/limits.h"
#include "wire/scalar_codec.h"

kith_error *message_read(const ProtobufCMessageDescriptor *type, struct str bytes, const char *what,
                         struct arena *scratch, void *out_message)
{
    scratch->limit = LIMIT_PLAN_UNPACKED_BYTES;
    return error_wrap(protobuf_read(type, bytes, PROTOBUF_READ_OVER_ADDITIONS, scratch, out_message), "%s", what);
}

kith_error *task_key_encode(const struct task_key *key, struct arena *arena, Kith__V1__TaskKey **out)
{
    TRY(protobuf_new(arena, &kith__v1__task_key__descriptor, out));
    (*out)->query_id = (ProtobufCBinaryData){sizeof key->query_id, (uint8_t *)(uintptr_t)key->query_id};
    (*out)->stage_id = key->stage;
    (*out)->task_number = key->task;
    return NULL;
}

kith_error *task_key_decode(const Kith__V1__TaskKey *message, struct task_key *out)
{
    if (message == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "a message without a task key");
    if (message->query_id.len != sizeof out->query_id)
        return error_new(KITH_ERROR_PROTOCOL, "a query id of %zu bytes, not %zu", message->query_id.len,
                         sizeof out->query_id);
    memcpy(out->query_id, message->query_id.data, sizeof out->query_id);
    out->stage = message->stage_id;
    out->task = message->task_number;
    return NULL;
}

kith_error *bound_message_encode(const struct bound_message *bound, struct arena *arena,
                                 Kith__V1__DynamicFilterBound **out)
{
    TRY(protobuf_new(arena, &kith__v1__dynamic_filter_bound__descriptor, out));
    (*out)->expression_id = bound->filter_id;
    (*out)->n_values = bound->value_count;
    TRY(ARENA_NEW_ARRAY(arena, &(*out)->values, bound->value_count));
    for (size_t i = 0; i < bound->value_count; i++)
        TRY(scalar_encode(&bound->values[i], arena, &(*out)->values[i]));
    (*out)->maybe_found_unix_ns_case = KITH__V1__DYNAMIC_FILTER_BOUND__MAYBE_FOUND_UNIX_NS_FOUND_UNIX_NS;
    (*out)->found_unix_ns = bound->found_unix_ns;
    return NULL;
}

kith_error *bound_message_decode(const Kith__V1__DynamicFilterBound *message, struct arena *arena,
                                 struct bound_message *out)
{
    if (message->n_values == 0 || message->n_values > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_PROTOCOL, "a bound of %zu values; it has one a sort key, at most SORT_KEYS (%d)",
                         message->n_values, LIMIT_SORT_KEYS);
    out->filter_id = message->expression_id;
    out->value_count = message->n_values;
    out->found_unix_ns = message->maybe_found_unix_ns_case != 0 ? message->found_unix_ns : 0;
    TRY(ARENA_NEW_ARRAY(arena, &out->values, message->n_values));
    for (size_t i = 0; i < message->n_values; i++)
        TRY(error_wrap(scalar_decode(message->values[i], arena, &out->values[i]), "value %zu of a bound", i));
    return NULL;
}
