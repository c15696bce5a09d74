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

static kith_error *encode_values(const struct scalar *values, size_t count, struct arena *arena,
                                 DatafusionCommon__ScalarValue ***out)
{
    TRY(ARENA_NEW_ARRAY(arena, out, count));
    for (size_t i = 0; i < count; i++)
        TRY(scalar_encode(&values[i], arena, &(*out)[i]));
    return NULL;
}

static kith_error *decode_values(DatafusionCommon__ScalarValue *const *values, size_t count, struct arena *arena,
                                 struct scalar **out)
{
    if (count == 0 || count > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_PROTOCOL, "a bound of %zu values; it has one a sort key, at most SORT_KEYS (%d)",
                         count, LIMIT_SORT_KEYS);
    TRY(ARENA_NEW_ARRAY(arena, out, count));
    for (size_t i = 0; i < count; i++)
        TRY(error_wrap(scalar_decode(values[i], arena, &(*out)[i]), "value %zu of a bound", i));
    return NULL;
}

kith_error *bound_message_encode(const struct bound_message *bound, struct arena *arena,
                                 Kith__V1__DynamicFilterBound **out)
{
    TRY(protobuf_new(arena, &kith__v1__dynamic_filter_bound__descriptor, out));
    (*out)->expression_id = bound->filter_id;
    (*out)->n_values = bound->value_count;
    TRY(encode_values(bound->values, bound->value_count, arena, &(*out)->values));
    (*out)->maybe_found_unix_ns_case = KITH__V1__DYNAMIC_FILTER_BOUND__MAYBE_FOUND_UNIX_NS_FOUND_UNIX_NS;
    (*out)->found_unix_ns = bound->found_unix_ns;
    return NULL;
}

kith_error *bound_message_decode(const Kith__V1__DynamicFilterBound *message, struct arena *arena,
                                 struct bound_message *out)
{
    out->filter_id = message->expression_id;
    out->value_count = message->n_values;
    out->found_unix_ns = message->maybe_found_unix_ns_case != 0 ? message->found_unix_ns : 0;
    return decode_values(message->values, message->n_values, arena, &out->values);
}

kith_error *ranks_message_encode(const struct ranks_message *ranks, struct arena *arena,
                                 Kith__V1__DynamicFilterRanks **out)
{
    TRY(protobuf_new(arena, &kith__v1__dynamic_filter_ranks__descriptor, out));
    Kith__V1__DynamicFilterRanks *message = *out;
    message->expression_id = ranks->filter_id;
    message->maybe_found_unix_ns_case = KITH__V1__DYNAMIC_FILTER_RANKS__MAYBE_FOUND_UNIX_NS_FOUND_UNIX_NS;
    message->found_unix_ns = ranks->found_unix_ns;
    TRY(ARENA_NEW_ARRAY(arena, &message->ranks, ranks->rank_count));
    for (; message->n_ranks < ranks->rank_count; message->n_ranks++) {
        Kith__V1__RankedBound **rank = &message->ranks[message->n_ranks];
        TRY(protobuf_new(arena, &kith__v1__ranked_bound__descriptor, rank));
        (*rank)->rows = ranks->ranks[message->n_ranks].rows;
        (*rank)->n_values = ranks->value_count;
        TRY(encode_values(ranks->ranks[message->n_ranks].values, ranks->value_count, arena, &(*rank)->values));
    }
    return NULL;
}

kith_error *ranks_message_decode(const Kith__V1__DynamicFilterRanks *message, struct arena *arena,
                                 struct ranks_message *out)
{
    if (message->n_ranks == 0 || message->n_ranks > LIMIT_BOUND_RANKS)
        return error_new(KITH_ERROR_PROTOCOL, "%zu ranks in a message; it has 1 to BOUND_RANKS (%d)", message->n_ranks,
                         LIMIT_BOUND_RANKS);
    *out = (struct ranks_message){.filter_id = message->expression_id, .value_count = message->ranks[0]->n_values};
    out->found_unix_ns = message->maybe_found_unix_ns_case != 0 ? message->found_unix_ns : 0;
    TRY(ARENA_NEW_ARRAY(arena, &out->ranks, message->n_ranks));
    for (; out->rank_count < message->n_ranks; out->rank_count++) {
        const Kith__V1__RankedBound *rank = message->ranks[out->rank_count];
        uint64_t before = out->rank_count == 0 ? 0 : out->ranks[out->rank_count - 1].rows;
        if (rank->n_values != out->value_count || rank->rows <= before)
            return error_new(KITH_ERROR_PROTOCOL, "rank %zu of a message has %zu values and %llu rows after %llu",
                             out->rank_count + 1, rank->n_values, (unsigned long long)rank->rows,
                             (unsigned long long)before);
        out->ranks[out->rank_count].rows = rank->rows;
        TRY(decode_values(rank->values, rank->n_values, arena, &out->ranks[out->rank_count].values));
    }
    return NULL;
}
