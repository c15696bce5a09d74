/* Plans: what is decoded can be printed and sent again, and then decodes as the same plan. Seeds: `plan_tool test N` of
 * tests/wire, and plans of DataFusion. */
#include "fuzz/fuzz.h"

#include "wire/plan_codec.h"

static bool is_about_size(const kith_error *error)
{
    return kith_error_code(error) == KITH_ERROR_OUT_OF_MEMORY || kith_error_code(error) == KITH_ERROR_LIMIT;
}

/* CASE over a column, and operands that were flat, make the second message larger than the first: sizes may refuse. */
static kith_error *send_again(const struct physical_plan *plan, const struct strbuf *text)
{
    _cleanup_(strbuf_reset) struct strbuf sent = {0}, sent_again = {0}, text_again = {0};
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct physical_plan *again;
    TRY(plan_encode(plan, &sent));
    TRY(plan_decode((const uint8_t *)sent.data, sent.length, &arena, &again));
    TRY(physical_plan_format(again, &text_again));
    ASSERT(strcmp(strbuf_text(text), strbuf_text(&text_again)) == 0);
    TRY(plan_encode(again, &sent_again));
    ASSERT(sent.length == sent_again.length && memcmp(sent.data, sent_again.data, sent.length) == 0);
    return NULL;
}

static kith_error *read_plan(const uint8_t *data, size_t size)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct physical_plan *plan;
    TRY(plan_decode(data, size, &arena, &plan));
    ASSERT(plan->partitions > 0 && physical_plan_node_count(plan) > 0);
    TRY(physical_plan_format(plan, &text));
    _cleanup_(error_free) kith_error *refused = send_again(plan, &text);
    ASSERT(refused == NULL || is_about_size(refused));
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    error_free(read_plan(data, size));
    return 0;
}
