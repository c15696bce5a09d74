#include "sql/parse_external_table.h"

#include "base/alloc.h"
#include "sql/lexer.h"

struct parser {
    struct lexer lexer;
    struct token token; /* the one at hand */
    size_t offset;
};

static void advance(struct parser *parser)
{
    parser->token = lexer_next(&parser->lexer);
}

static bool accept(struct parser *parser, const char *word)
{
    if (!token_is_word(&parser->token, word))
        return false;
    advance(parser);
    return true;
}

static kith_error *unexpected(const struct parser *parser, const char *expected)
{
    kith_error *error =
        parser->token.kind == TOKEN_END
            ? error_new(KITH_ERROR_SYNTAX, "syntax error at end of input: expected %s", expected)
            : error_new(KITH_ERROR_SYNTAX, "syntax error at or near \"%.*s\": expected %s",
                        (int)MIN(parser->token.text.length, (size_t)40), parser->token.text.data, expected);
    error = error_hint(error, "CREATE EXTERNAL TABLE name STORED AS PARQUET LOCATION 'folder/*.parquet'");
    return error_at(error, parser->offset + parser->token.offset);
}

static kith_error *expect(struct parser *parser, const char *word)
{
    return accept(parser, word) ? NULL : unexpected(parser, word);
}

static kith_error *take_value(struct parser *parser, char **out)
{
    _cleanup_(strbuf_reset) struct strbuf value = {0};
    if (parser->token.unterminated)
        return error_at(error_new(KITH_ERROR_SYNTAX, "the quote is not closed"), parser->offset + parser->token.offset);
    TRY(token_value(&parser->token, &value));
    free(*out);
    TRY(alloc_string(strbuf_text(&value), value.length, out));
    advance(parser);
    return NULL;
}

bool sql_is_external_table(struct str statement)
{
    struct parser parser = {.lexer = {.text = statement}};
    advance(&parser);
    if (!accept(&parser, "create"))
        return false;
    if (accept(&parser, "or") && !accept(&parser, "replace"))
        return false;
    return accept(&parser, "external");
}

static kith_error *parse_name(struct parser *parser, struct sql_external_table *out)
{
    if (accept(parser, "if")) {
        TRY(expect(parser, "not"));
        TRY(expect(parser, "exists"));
        out->if_not_exists = true;
    }
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_QUOTED_WORD)
        return unexpected(parser, "the table's name");
    return take_value(parser, &out->name);
}

kith_error *sql_parse_external_table(struct str statement, size_t offset, struct sql_external_table *out)
{
    struct parser parser = {.lexer = {.text = statement}, .offset = offset};
    advance(&parser);
    TRY(expect(&parser, "create"));
    if (accept(&parser, "or")) {
        TRY(expect(&parser, "replace"));
        out->or_replace = true;
    }
    TRY(expect(&parser, "external"));
    TRY(expect(&parser, "table"));
    TRY(parse_name(&parser, out));

    while (parser.token.kind != TOKEN_END) {
        if (out->location != NULL && token_is_word(&parser.token, "location"))
            return unexpected(&parser, "one LOCATION");
        if (accept(&parser, "stored")) {
            TRY(expect(&parser, "as"));
            TRY(expect(&parser, "parquet"));
        } else if (accept(&parser, "location")) {
            if (parser.token.kind != TOKEN_STRING)
                return unexpected(&parser, "a quoted file, folder or pattern");
            TRY(take_value(&parser, &out->location));
        } else {
            return unexpected(&parser, "STORED AS PARQUET or LOCATION");
        }
    }
    return out->location == NULL ? unexpected(&parser, "LOCATION") : NULL;
}
