/* What coordinator and worker send each other arrives as it was sent; what is missing, unknown or damaged is told. */
#include "testing.h"

#include "base/limits.h"
#include "wire/protobuf.h"
#include "wire/scalars.h"
#include "wire/worker_messages.h"
#include "wire/worker_status.h"

#include "kith_worker.pb-c.h"

static const struct task_key key = {.query_id = "0123456789abcde", .stage = 3, .task = 2};

static struct str bytes_of(const struct strbuf *buffer)
{
    return (struct str){buffer->data, buffer->length};
}

static void pack(const ProtobufCMessage *message, struct strbuf *out)
{
    assert_ok(protobuf_write(message, out));
}

static void a_workers_description_arrives(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct worker_info info = {"1.2.3", WORKER_PROTOCOL_VERSION, CAPABILITY_TOPK_BOUNDS}, read;
    assert_ok(worker_info_encode(&info, &bytes));
    assert_ok(worker_info_decode(bytes_of(&bytes), &arena, &read));
    assert_string_equal(read.version, "1.2.3");
    assert_int_equal(read.protocol_version, WORKER_PROTOCOL_VERSION);
    assert_int_equal(read.capabilities, CAPABILITY_TOPK_BOUNDS);
}

static void a_workers_counters_arrive_by_name(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct worker_status status = {.version = "1.2.3"}, read;
    for (size_t i = 0; i < WORKER_COUNTER_COUNT; i++)
        status.counters[i] = 7 * i + 1;
    status.metrics[METRIC_OUTPUT_ROWS] = UINT64_MAX;
    status.metrics[METRIC_PEAK_MEMORY] = 9;
    assert_ok(worker_status_encode(&status, &bytes));
    /* A counter that is not known here, "new" = 5. */
    assert_ok(strbuf_append(&bytes, "\xaa\x06\x07\x0a\x03new\x10\x05", 10));
    assert_ok(worker_status_decode(bytes_of(&bytes), &arena, &read));
    assert_string_equal(read.version, "1.2.3");
    assert_memory_equal(read.counters, status.counters, sizeof read.counters);
    assert_memory_equal(read.metrics, status.metrics, sizeof read.metrics);
}

static void a_worker_of_another_project_has_no_protocol_version(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct worker_info read;
    assert_ok(worker_info_decode(str_of("\x0a\x05"
                                        "5.0.1"),
                                 &arena, &read));
    assert_string_equal(read.version, "5.0.1");
    assert_int_equal(read.protocol_version, 0);
    assert_int_equal(read.capabilities, 0);
}

static void a_plan_arrives_with_its_settings(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct coordinator_message message = {.kind = COORDINATOR_SET_PLAN}, read;
    struct set_plan *plan = &message.set_plan;
    const struct scalar values[] = {{.type = {.id = TYPE_INT64}, .int64 = 5}, scalar_null(&values[0].type)};
    struct steps_message steps[] = {{.filter_id = 7, .value_count = 2, .values = values}, {.filter_id = 8}};
    *plan = (struct set_plan){.key = key,
                              .task_count = 4,
                              .plan = {"plan\0bytes", 10},
                              .query_start_unix_ns = 1700000000123456789,
                              .share_bounds = true,
                              .share_ranks = true,
                              .others_wait = true,
                              .steps_count = 2,
                              .steps = steps};
    settings_init(&plan->settings);
    assert_ok(settings_set(&plan->settings, SETTING_BATCH_SIZE, "1000"));
    assert_ok(settings_set(&plan->settings, SETTING_COMPRESSION, "none"));
    assert_ok(settings_set(&plan->settings, SETTING_KEEPALIVE, "7s"));
    assert_ok(coordinator_message_encode(&message, &bytes));
    assert_ok(coordinator_message_decode(bytes_of(&bytes), &arena, &read));
    assert_int_equal(read.kind, COORDINATOR_SET_PLAN);
    assert_true(task_key_equal(&read.set_plan.key, &key));
    assert_int_equal(read.set_plan.task_count, 4);
    assert_true(str_equal(read.set_plan.plan, plan->plan));
    assert_int_equal(read.set_plan.query_start_unix_ns, plan->query_start_unix_ns);
    assert_true(read.set_plan.share_bounds);
    assert_true(read.set_plan.share_ranks);
    assert_true(read.set_plan.others_wait);
    assert_int_equal(read.set_plan.steps_count, 2);
    assert_int_equal(read.set_plan.steps[0].filter_id, 7);
    assert_int_equal(read.set_plan.steps[0].value_count, 2);
    assert_int_equal(read.set_plan.steps[0].values[0].int64, 5);
    assert_true(read.set_plan.steps[0].values[1].is_null);
    assert_int_equal(read.set_plan.steps[1].filter_id, 8);
    assert_int_equal(read.set_plan.steps[1].value_count, 0);
    assert_memory_equal(&read.set_plan.settings, &plan->settings, sizeof plan->settings);
}

static void only_settings_that_were_set_are_sent(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct coordinator_message message = {.kind = COORDINATOR_SET_PLAN};
    message.set_plan = (struct set_plan){.key = key, .task_count = 4};
    settings_init(&message.set_plan.settings);
    assert_ok(settings_set(&message.set_plan.settings, SETTING_BATCH_SIZE, "1000"));
    assert_ok(coordinator_message_encode(&message, &bytes));
    Kith__V1__CoordinatorToWorkerMsg *sent =
        kith__v1__coordinator_to_worker_msg__unpack(NULL, bytes.length, (const uint8_t *)bytes.data);
    assert_non_null(sent);
    assert_int_equal(sent->set_plan_request->n_settings, 1);
    assert_string_equal(sent->set_plan_request->settings[0]->name, "execution.batch_size");
    assert_string_equal(sent->set_plan_request->settings[0]->value, "1000");
    kith__v1__coordinator_to_worker_msg__free_unpacked(sent, NULL);
}

static void a_setting_that_the_worker_does_not_know_is_ignored(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct coordinator_message read;
    char name[] = "execution.of_the_future", value[] = "yes";
    Kith__V1__Setting setting, *settings[] = {&setting};
    Kith__V1__TaskKey task = KITH__V1__TASK_KEY__INIT;
    Kith__V1__SetPlanRequest request = KITH__V1__SET_PLAN_REQUEST__INIT;
    Kith__V1__CoordinatorToWorkerMsg message = KITH__V1__COORDINATOR_TO_WORKER_MSG__INIT;
    uint8_t query_id[16] = {0};
    kith__v1__setting__init(&setting);
    setting.name = name;
    setting.value = value;
    task.query_id = (ProtobufCBinaryData){sizeof query_id, query_id};
    request.task_key = &task;
    request.task_count = 1;
    request.settings = settings;
    request.n_settings = 1;
    message.inner_case = KITH__V1__COORDINATOR_TO_WORKER_MSG__INNER_SET_PLAN_REQUEST;
    message.set_plan_request = &request;
    pack(&message.base, &bytes);
    assert_ok(coordinator_message_decode(bytes_of(&bytes), &arena, &read));
    struct settings defaults;
    settings_init(&defaults);
    assert_memory_equal(&read.set_plan.settings, &defaults, sizeof defaults);
    assert_false(read.set_plan.share_bounds);
    assert_false(read.set_plan.share_ranks);
    assert_false(read.set_plan.others_wait);
    assert_int_equal(read.set_plan.steps_count, 0);
}

static void more_steps_than_are_ever_sent_are_refused(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct coordinator_message message = {.kind = COORDINATOR_SET_PLAN}, read;
    struct scalar values[LIMIT_BOUND_STEPS + 1];
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        values[i] = (struct scalar){.type = {.id = TYPE_INT64}, .int64 = (int64_t)i};
    struct steps_message steps = {.filter_id = 1, .value_count = ARRAY_SIZE(values), .values = values};
    message.set_plan = (struct set_plan){.key = key, .task_count = 4, .steps_count = 1, .steps = &steps};
    assert_ok(coordinator_message_encode(&message, &bytes));
    assert_fails(coordinator_message_decode(bytes_of(&bytes), &arena, &read), KITH_ERROR_PROTOCOL, "BOUND_STEPS");
}

static void ranks_arrive(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct scalar values[4] = {
        {.type = {.id = TYPE_INT64}, .int64 = 1}, scalar_null(&values[0].type), values[0], values[0]};
    struct rank_message ranks[] = {{values, 3}, {values + 2, 100}};
    struct worker_message message = {.kind = WORKER_PRODUCED_RANKS}, read;
    message.ranks = (struct ranks_message){
        .filter_id = 9, .value_count = 2, .rank_count = 2, .ranks = ranks, .found_unix_ns = 1700000000123456789};
    assert_ok(worker_message_encode(&message, &bytes));
    assert_ok(worker_message_decode(bytes_of(&bytes), &arena, &read));
    assert_int_equal(read.kind, WORKER_PRODUCED_RANKS);
    assert_int_equal(read.ranks.filter_id, 9);
    assert_int_equal(read.ranks.value_count, 2);
    assert_int_equal(read.ranks.rank_count, 2);
    assert_int_equal(read.ranks.found_unix_ns, 1700000000123456789);
    assert_int_equal(read.ranks.ranks[0].rows, 3);
    assert_int_equal(read.ranks.ranks[0].values[0].int64, 1);
    assert_true(read.ranks.ranks[0].values[1].is_null);
    assert_int_equal(read.ranks.ranks[1].rows, 100);
}

static void refuse_ranks(const struct ranks_message *ranks, const char *part)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    struct worker_message message = {.kind = WORKER_PRODUCED_RANKS, .ranks = *ranks}, read;
    assert_ok(worker_message_encode(&message, &bytes));
    assert_fails(worker_message_decode(bytes_of(&bytes), &arena, &read), KITH_ERROR_PROTOCOL, part);
}

static void ranks_that_are_none_too_many_or_do_not_rise_are_refused(void **state)
{
    struct scalar value = {.type = {.id = TYPE_INT64}};
    struct rank_message ranks[LIMIT_BOUND_RANKS + 1];
    for (size_t i = 0; i < ARRAY_SIZE(ranks); i++)
        ranks[i] = (struct rank_message){&value, i + 1};
    refuse_ranks(&(struct ranks_message){.value_count = 1}, "BOUND_RANKS");
    refuse_ranks(&(struct ranks_message){.value_count = 1, .rank_count = ARRAY_SIZE(ranks), .ranks = ranks},
                 "BOUND_RANKS");
    refuse_ranks(&(struct ranks_message){.value_count = 0, .rank_count = 1, .ranks = ranks}, "0 values");
    ranks[1].rows = 1;
    refuse_ranks(&(struct ranks_message){.value_count = 1, .rank_count = 2, .ranks = ranks}, "1 rows after 1");
}

static void a_bound_of_every_type_arrives(void **state)
{
    const struct scalar *scalars;
    size_t count = test_scalars(&scalars);
    for (size_t i = 0; i < count; i++) {
        _cleanup_(strbuf_reset) struct strbuf there = {0}, back = {0};
        _cleanup_(arena_reset) struct arena arena = {0};
        struct scalar values[] = {scalars[i], scalars[count - 1 - i]};
        struct bound_message bound = {.filter_id = UINT64_MAX, .value_count = 2, .values = values};
        struct coordinator_message to = {.kind = COORDINATOR_APPLY_BOUND, .bound = bound}, to_read;
        struct worker_message from = {.kind = WORKER_PRODUCED_BOUND, .bound = bound}, from_read;
        assert_ok(coordinator_message_encode(&to, &there));
        assert_ok(coordinator_message_decode(bytes_of(&there), &arena, &to_read));
        assert_ok(worker_message_encode(&from, &back));
        assert_ok(worker_message_decode(bytes_of(&back), &arena, &from_read));
        assert_int_equal(to_read.kind, COORDINATOR_APPLY_BOUND);
        assert_int_equal(from_read.kind, WORKER_PRODUCED_BOUND);
        assert_int_equal(to_read.bound.filter_id, UINT64_MAX);
        assert_int_equal(from_read.bound.value_count, 2);
        for (size_t j = 0; j < 2; j++) {
            assert_true(test_scalars_equal(&to_read.bound.values[j], &values[j]));
            assert_true(test_scalars_equal(&from_read.bound.values[j], &values[j]));
        }
    }
}

static void metrics_arrive_by_name(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    uint64_t nodes[3][METRIC_COUNT] = {{0}};
    nodes[0][METRIC_OUTPUT_ROWS] = 5;
    nodes[2][METRIC_PEAK_MEMORY] = UINT64_MAX;
    nodes[2][METRIC_BOUNDS_APPLIED] = 1;
    struct worker_message message = {.kind = WORKER_METRICS}, read;
    message.metrics = (struct task_metrics){
        .node_count = 3, .nodes = nodes, .plan_received_unix_ns = 1, .started_unix_ns = 2, .final = true};
    assert_ok(worker_message_encode(&message, &bytes));
    assert_ok(worker_message_decode(bytes_of(&bytes), &arena, &read));
    assert_int_equal(read.kind, WORKER_METRICS);
    assert_int_equal(read.metrics.node_count, 3);
    assert_memory_equal(read.metrics.nodes, nodes, sizeof nodes);
    assert_int_equal(read.metrics.plan_received_unix_ns, 1);
    assert_int_equal(read.metrics.started_unix_ns, 2);
    assert_int_equal(read.metrics.finished_unix_ns, 0);
    assert_true(read.metrics.final);
}

static void metrics_arrive_in_any_order_and_unknown_ones_are_passed_over(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(arena_reset) struct arena arena = {0};
    const char *names[] = {"bytes_scanned", "of_the_future", "output_rows", "output_rows_of_the_future",
                           "elapsed_compute"};
    const enum metric expected[] = {METRIC_BYTES_SCANNED, METRIC_COUNT, METRIC_OUTPUT_ROWS, METRIC_COUNT,
                                    METRIC_ELAPSED_COMPUTE};
    Kith__V1__NamedCount counts[ARRAY_SIZE(names)];
    Kith__V1__Metric metrics[ARRAY_SIZE(names)], *pointers[ARRAY_SIZE(names)];
    Kith__V1__MetricsSet node = KITH__V1__METRICS_SET__INIT, *nodes[] = {&node};
    Kith__V1__TaskMetrics task = KITH__V1__TASK_METRICS__INIT;
    Kith__V1__WorkerToCoordinatorMsg message = KITH__V1__WORKER_TO_COORDINATOR_MSG__INIT;
    struct worker_message read;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        kith__v1__named_count__init(&counts[i]);
        kith__v1__metric__init(&metrics[i]);
        counts[i].name = (char *)(uintptr_t)names[i];
        counts[i].value = i + 1;
        metrics[i].value_case = KITH__V1__METRIC__VALUE_COUNT;
        metrics[i].count = &counts[i];
        pointers[i] = &metrics[i];
    }
    node.n_metrics = ARRAY_SIZE(names);
    node.metrics = pointers;
    task.n_pre_order_plan_metrics = 1;
    task.pre_order_plan_metrics = nodes;
    message.inner_case = KITH__V1__WORKER_TO_COORDINATOR_MSG__INNER_TASK_METRICS;
    message.task_metrics = &task;
    pack(&message.base, &bytes);
    assert_ok(worker_message_decode(bytes_of(&bytes), &arena, &read));
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        uint64_t value = 0;
        for (size_t j = 0; j < ARRAY_SIZE(names); j++)
            value = expected[j] == (enum metric)i ? j + 1 : value;
        assert_int_equal(read.metrics.nodes[0][i], value);
    }
}

static void a_request_for_partitions_arrives(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, empty = {0};
    struct execute_task request = {key, 0, 7, 3}, nothing = {key, 7, 7, 0}, read;
    assert_ok(execute_task_encode(&request, &bytes));
    assert_ok(execute_task_decode(bytes_of(&bytes), &read));
    assert_true(task_key_equal(&read.key, &key));
    assert_int_equal(read.partition_start, 0);
    assert_int_equal(read.partition_end, 7);
    assert_int_equal(read.bounds_before, 3);
    assert_ok(execute_task_encode(&nothing, &empty));
    assert_fails(execute_task_decode(bytes_of(&empty), &read), KITH_ERROR_PROTOCOL, "partitions from 7 to before 7");
}

static void messages_that_lack_what_they_must_have_are_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct coordinator_message to;
    struct worker_message from;
    struct execute_task execute;
    assert_fails(coordinator_message_decode((struct str){0}, &arena, &to), KITH_ERROR_PROTOCOL, "empty message");
    assert_fails(worker_message_decode((struct str){0}, &arena, &from), KITH_ERROR_PROTOCOL, "empty message");
    assert_fails(execute_task_decode((struct str){0}, &execute), KITH_ERROR_PROTOCOL, "without a task key");
    assert_fails(execute_task_decode(str_of("\x0a\x03\x0a\x01x"), &execute), KITH_ERROR_PROTOCOL,
                 "a query id of 1 bytes");
    /* apply_dynamic_filter without a value */
    assert_fails(coordinator_message_decode((struct str){"\x22\x02\x08\x07", 4}, &arena, &to), KITH_ERROR_PROTOCOL,
                 "a bound of 0 values");
}

static void fields_of_others_are_refused_and_later_additions_read_over(void **state)
{
    struct execute_task read;
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, with_head = {0};
    struct execute_task request = {key, 0, 1};
    assert_ok(execute_task_encode(&request, &bytes));
    assert_ok(strbuf_append(&with_head, bytes.data, bytes.length));
    /* datafusion-distributed's producer_head, broadcast = 7 */
    assert_ok(strbuf_append(&with_head, "\x3a\x02\x08\x04", 4));
    assert_fails(execute_task_decode(bytes_of(&with_head), &read), KITH_ERROR_NOT_IMPLEMENTED,
                 "field 7 of ExecuteTaskRequest");
    /* field 200, a varint */
    assert_ok(strbuf_append(&bytes, "\xc0\x0c\x01", 3));
    assert_ok(execute_task_decode(bytes_of(&bytes), &read));
}

/* A message whose only field is a message, which then has field 150 as well; field 151 is beside it. */
static void add_later_fields(const struct strbuf *given, struct strbuf *out)
{
    static const char inside[] = "\xb2\x09\x03new", beside[] = "\xba\x09\x03new";
    const uint8_t *bytes = (const uint8_t *)given->data;
    size_t start = 1, length = 0;
    for (unsigned shift = 0;; shift += 7) {
        length |= (size_t)(bytes[start] & 0x7F) << shift;
        if (bytes[start++] < 0x80)
            break;
    }
    assert_int_equal(given->length, start + length);
    size_t longer = length + strlen(inside);
    const uint8_t head[] = {bytes[0], (uint8_t)(longer | 0x80), (uint8_t)(longer >> 7)};
    assert_ok(strbuf_append(out, head, sizeof head));
    assert_ok(strbuf_append(out, bytes + start, length));
    assert_ok(strbuf_append_text(out, inside));
    assert_ok(strbuf_append_text(out, beside));
}

static void what_a_newer_peer_adds_to_its_messages_is_read_over(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct scalar value = {.type = {.id = TYPE_INT64}, .int64 = 17};
    uint64_t nodes[1][METRIC_COUNT] = {{[METRIC_OUTPUT_ROWS] = 5}};
    struct coordinator_message to[] = {
        {.kind = COORDINATOR_SET_PLAN, .set_plan = {.key = key, .task_count = 4, .plan = {"plan", 4}}},
        {.kind = COORDINATOR_APPLY_BOUND, .bound = {.filter_id = 1, .value_count = 1, .values = &value}},
    };
    struct worker_message from[] = {
        {.kind = WORKER_METRICS, .metrics = {.node_count = 1, .nodes = nodes}},
        {.kind = WORKER_PRODUCED_BOUND, .bound = {.filter_id = 1, .value_count = 1, .values = &value}},
    };
    settings_init(&to[0].set_plan.settings);
    for (size_t i = 0; i < 2; i++) {
        _cleanup_(strbuf_reset) struct strbuf bytes = {0}, later = {0};
        struct coordinator_message read;
        assert_ok(coordinator_message_encode(&to[i], &bytes));
        add_later_fields(&bytes, &later);
        assert_ok(coordinator_message_decode(bytes_of(&later), &arena, &read));
        assert_int_equal(read.kind, to[i].kind);
        assert_int_equal(i == 0 ? (int64_t)read.set_plan.task_count : read.bound.values[0].int64, i == 0 ? 4 : 17);
    }
    for (size_t i = 0; i < 2; i++) {
        _cleanup_(strbuf_reset) struct strbuf bytes = {0}, later = {0};
        struct worker_message read;
        assert_ok(worker_message_encode(&from[i], &bytes));
        add_later_fields(&bytes, &later);
        assert_ok(worker_message_decode(bytes_of(&later), &arena, &read));
        assert_int_equal(read.kind, from[i].kind);
        assert_int_equal(i == 0 ? (int64_t)read.metrics.nodes[0][METRIC_OUTPUT_ROWS] : read.bound.values[0].int64,
                         i == 0 ? 5 : 17);
    }
}

/* Reading over it would make another message or value of what is left. */
static void what_a_newer_peer_says_instead_of_something_known_is_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct coordinator_message to;
    struct worker_message from;
    /* A message of a kind that is not known, field 102. */
    assert_fails(coordinator_message_decode(str_of("\xb2\x06\x01x"), &arena, &to), KITH_ERROR_PROTOCOL,
                 "empty message");
    assert_fails(worker_message_decode(str_of("\xb2\x06\x01x"), &arena, &from), KITH_ERROR_PROTOCOL, "empty message");
    /* A bound of one value, of a kind that is not known: field 150 of ScalarValue. */
    static const char bound[] = "\x22\x09\x08\x07\xa2\x06\x04\xb2\x09\x01x";
    assert_fails(coordinator_message_decode(str_of(bound), &arena, &to), KITH_ERROR_CORRUPT, "value 0 of a bound");
}

/* Any bit of a message flipped, any part of it cut off: an error or another message, and no report of a sanitizer. */
static void damage_anywhere_is_survived(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct scalar values[] = {{.type = {.id = TYPE_UTF8}, .string = {"text", 4}}};
    struct coordinator_message message = {.kind = COORDINATOR_APPLY_BOUND,
                                          .bound = {.filter_id = 1, .value_count = 1, .values = values}};
    assert_ok(coordinator_message_encode(&message, &bytes));
    for (size_t bit = 0; bit < 8 * bytes.length; bit++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        struct coordinator_message read;
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        error_free(coordinator_message_decode(bytes_of(&bytes), &arena, &read));
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t length = 1; length < bytes.length; length++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        struct coordinator_message read;
        assert_fails(coordinator_message_decode((struct str){bytes.data, length}, &arena, &read), KITH_ERROR_CORRUPT,
                     "malformed message at byte");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workers_description_arrives),
        cmocka_unit_test(a_workers_counters_arrive_by_name),
        cmocka_unit_test(a_worker_of_another_project_has_no_protocol_version),
        cmocka_unit_test(a_plan_arrives_with_its_settings),
        cmocka_unit_test(ranks_arrive),
        cmocka_unit_test(ranks_that_are_none_too_many_or_do_not_rise_are_refused),
        cmocka_unit_test(more_steps_than_are_ever_sent_are_refused),
        cmocka_unit_test(only_settings_that_were_set_are_sent),
        cmocka_unit_test(a_setting_that_the_worker_does_not_know_is_ignored),
        cmocka_unit_test(a_bound_of_every_type_arrives),
        cmocka_unit_test(metrics_arrive_by_name),
        cmocka_unit_test(metrics_arrive_in_any_order_and_unknown_ones_are_passed_over),
        cmocka_unit_test(a_request_for_partitions_arrives),
        cmocka_unit_test(messages_that_lack_what_they_must_have_are_refused),
        cmocka_unit_test(fields_of_others_are_refused_and_later_additions_read_over),
        cmocka_unit_test(what_a_newer_peer_adds_to_its_messages_is_read_over),
        cmocka_unit_test(what_a_newer_peer_says_instead_of_something_known_is_refused),
        cmocka_unit_test(damage_anywhere_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
