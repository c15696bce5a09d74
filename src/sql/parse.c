#include "sql/parse.h"

#include "base/limits.h"
#include "base/vec.h"
#include "runtime/large_stack.h"
#include "sql/lexer.h"
#include "sql/parse_external_table.h"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

enum { TREE_DEPTH_PER_LEVEL = 4 };

/* That many bytes of stack took 100,000 terms of a chain; LIMIT_SQL_TOKENS allows a quarter of that. */
_Static_assert(LARGE_STACK_BYTES >= 256 << 20, "too small a stack for libpg_query");

struct parsed_statement {
    struct sql_syntax syntax;
    PgQuery__ParseResult *tree;
    struct sql_external_table external_table;
};

struct sql_script {
    char *text; /* a copy, NUL-terminated */
    VEC(struct parsed_statement) statements;
};

/* Depth of a message tree by its descriptors: how deep a recursive walk over it would get. */
static size_t message_depth(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    size_t deepest = 0;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        const char *member = (const char *)message + field->offset;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t count = *(const size_t *)((const char *)message + field->quantifier_offset);
            ProtobufCMessage *const *items = *(ProtobufCMessage *const *const *)member;
            for (size_t j = 0; j < count; j++)
                deepest = MAX(deepest, message_depth(items[j]));
        } else {
            bool in_oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
            const int32_t *selected = (const int32_t *)((const char *)message + field->quantifier_offset);
            const ProtobufCMessage *child = *(ProtobufCMessage *const *)member;
            if (child != NULL && (!in_oneof || *selected == (int32_t)field->id))
                deepest = MAX(deepest, message_depth(child));
        }
    }
    return deepest + 1;
}

/* libpg_query counts positions in characters from 1. */
static size_t byte_offset_of_character(struct str text, int position)
{
    size_t offset = 0;
    for (int i = 1; i < position && offset < text.length; i++) {
        offset++;
        while (offset < text.length && ((unsigned char)text.data[offset] & 0xC0) == 0x80)
            offset++;
    }
    return offset;
}

/* The grammar's own stack is limited too; a text that exhausts it nests no less than one that our limit refuses. */
static kith_error *syntax_error(const PgQueryError *error)
{
    if (strstr(error->message, "memory exhausted") != NULL)
        return error_new(KITH_ERROR_LIMIT, "the statement nests deeper than %d levels (limit SQL_NESTING)",
                         LIMIT_SQL_NESTING);
    return error_new(KITH_ERROR_SYNTAX, "%s", error->message);
}

static kith_error *parse_with_postgres(void *argument)
{
    struct parsed_statement *statement = argument;
    struct str text = statement->syntax.text;
    _cleanup_(strbuf_reset) struct strbuf copy = {0};
    TRY(strbuf_append(&copy, text.data, text.length));

    PgQueryProtobufParseResult result = pg_query_parse_protobuf(copy.data);
    kith_error *error = NULL;
    if (result.error != NULL) {
        error = error_at(syntax_error(result.error),
                         statement->syntax.offset + byte_offset_of_character(text, result.error->cursorpos));
    } else {
        statement->tree =
            pg_query__parse_result__unpack(NULL, result.parse_tree.len, (const uint8_t *)result.parse_tree.data);
        if (statement->tree == NULL)
            error = error_out_of_memory();
    }
    pg_query_free_protobuf_parse_result(result);
    TRY(error);

    if (message_depth(&statement->tree->base) > LIMIT_SQL_NESTING * TREE_DEPTH_PER_LEVEL)
        return error_at(error_new(KITH_ERROR_LIMIT, "the statement nests deeper than %d levels (limit SQL_NESTING)",
                                  LIMIT_SQL_NESTING),
                        statement->syntax.offset);
    if (statement->tree->n_stmts != 1)
        return error_at(error_new(KITH_ERROR_SYNTAX, "expected one statement, found %zu", statement->tree->n_stmts),
                        statement->syntax.offset);
    statement->syntax.node = statement->tree->stmts[0]->stmt;
    return NULL;
}

static kith_error *free_trees(void *argument)
{
    struct sql_script *script = argument;
    for (size_t i = 0; i < script->statements.length; i++)
        if (script->statements.items[i].tree != NULL)
            pg_query__parse_result__free_unpacked(script->statements.items[i].tree, NULL);
    return NULL;
}

void sql_script_free(struct sql_script *script)
{
    if (script == NULL)
        return;
    /* Without a stack to free them on, the trees are leaked rather than this one risked. */
    error_free(call_on_large_stack(free_trees, script));
    for (size_t i = 0; i < script->statements.length; i++) {
        free(script->statements.items[i].external_table.name);
        free(script->statements.items[i].external_table.location);
    }
    vec_reset(&script->statements);
    free(script->text);
    free(script);
}

static kith_error *parse_statement(struct sql_script *script, struct str text, size_t offset)
{
    TRY(vec_push(&script->statements, ((struct parsed_statement){.syntax = {.offset = offset, .text = text}})));
    struct parsed_statement *statement = &script->statements.items[script->statements.length - 1];
    if (!sql_is_external_table(text))
        return call_on_large_stack(parse_with_postgres, statement);
    return sql_parse_external_table(text, offset, &statement->external_table);
}

/* Cuts the text at semicolons outside of strings and parentheses, checking the limits on the way. */
static kith_error *parse_statements(struct sql_script *script, struct str text)
{
    struct lexer lexer = {.text = text};
    size_t tokens = 0, depth = 0;
    size_t start = SIZE_MAX; /* of the statement being read */
    for (;;) {
        struct token token = lexer_next(&lexer);
        bool ends = token.kind == TOKEN_END || (token_is_symbol(&token, ';') && depth == 0);
        if (ends) {
            if (start != SIZE_MAX)
                TRY(parse_statement(script, (struct str){text.data + start, token.offset - start}, start));
            if (token.kind == TOKEN_END)
                return NULL;
            start = SIZE_MAX;
            continue;
        }
        if (start == SIZE_MAX)
            start = token.offset;
        depth += token_is_symbol(&token, '(');
        depth -= token_is_symbol(&token, ')') && depth > 0;
        if (++tokens > LIMIT_SQL_TOKENS)
            return error_at(
                error_new(KITH_ERROR_LIMIT, "the text has more than %d tokens (limit SQL_TOKENS)", LIMIT_SQL_TOKENS),
                token.offset);
        if (depth > LIMIT_SQL_NESTING)
            return error_at(error_new(KITH_ERROR_LIMIT, "parentheses nest deeper than %d levels (limit SQL_NESTING)",
                                      LIMIT_SQL_NESTING),
                            token.offset);
    }
}

kith_error *sql_parse(struct str text, struct sql_script **out)
{
    if (text.length > LIMIT_SQL_BYTES)
        return error_new(KITH_ERROR_LIMIT, "the SQL text has %zu bytes, more than %d (limit SQL_BYTES)", text.length,
                         LIMIT_SQL_BYTES);
    const char *nul = memchr(text.data, '\0', text.length);
    if (nul != NULL)
        return error_at(error_new(KITH_ERROR_SYNTAX, "the SQL text contains a NUL byte"), (size_t)(nul - text.data));

    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    TRY(NEW(&script));
    TRY(alloc_string(text.data, text.length, &script->text));
    TRY(parse_statements(script, (struct str){script->text, text.length}));
    for (size_t i = 0; i < script->statements.length; i++) {
        struct parsed_statement *statement = &script->statements.items[i];
        if (statement->tree == NULL)
            statement->syntax.external_table = &statement->external_table;
    }
    *out = TAKE(script);
    return NULL;
}

size_t sql_script_count(const struct sql_script *script)
{
    return script->statements.length;
}

struct sql_syntax sql_script_statement(const struct sql_script *script, size_t i)
{
    return script->statements.items[i].syntax;
}
