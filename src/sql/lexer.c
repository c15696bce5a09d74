#include "sql/lexer.h"

#include <ctype.h>
#include <strings.h>

static bool is_word_start(unsigned char c)
{
    return isalpha(c) || c == '_' || c >= 0x80;
}

static bool is_word_part(unsigned char c)
{
    return is_word_start(c) || isdigit(c) || c == '$';
}

static bool starts_with(const struct lexer *lexer, size_t position, const char *prefix)
{
    size_t length = strlen(prefix);
    return lexer->text.length - position >= length && memcmp(lexer->text.data + position, prefix, length) == 0;
}

/* Comments nest, as in PostgreSQL. */
static size_t skip_block_comment(const struct lexer *lexer, size_t position)
{
    size_t depth = 0;
    while (position < lexer->text.length) {
        if (starts_with(lexer, position, "/*")) {
            depth++;
            position += 2;
        } else if (starts_with(lexer, position, "*/")) {
            position += 2;
            if (--depth == 0)
                return position;
        } else {
            position++;
        }
    }
    return position;
}

static size_t skip_blank(const struct lexer *lexer, size_t position)
{
    while (position < lexer->text.length) {
        if (isspace((unsigned char)lexer->text.data[position])) {
            position++;
        } else if (starts_with(lexer, position, "--")) {
            while (position < lexer->text.length && lexer->text.data[position] != '\n' &&
                   lexer->text.data[position] != '\r')
                position++;
        } else if (starts_with(lexer, position, "/*")) {
            position = skip_block_comment(lexer, position);
        } else {
            break;
        }
    }
    return position;
}

/* Position after the closing quote of a text that opens at `position`, or past the end of the text when nothing closes
 * it. A doubled quote does not close. */
static size_t quoted_end(const struct lexer *lexer, size_t position, bool backslash_escapes)
{
    char quote = lexer->text.data[position++];
    while (position < lexer->text.length) {
        char c = lexer->text.data[position++];
        if (backslash_escapes && c == '\\' && position < lexer->text.length) {
            position++;
        } else if (c == quote) {
            if (position == lexer->text.length || lexer->text.data[position] != quote)
                return position;
            position++;
        }
    }
    return position + 1;
}

/* Position after a $tag$…$tag$ string, or `position` when none opens there; past the end of the text when
 * nothing closes it. */
static size_t dollar_quoted_end(const struct lexer *lexer, size_t position)
{
    size_t tag_end = position + 1;
    while (tag_end < lexer->text.length && is_word_part((unsigned char)lexer->text.data[tag_end]) &&
           lexer->text.data[tag_end] != '$')
        tag_end++;
    if (tag_end == lexer->text.length || lexer->text.data[tag_end] != '$' ||
        isdigit((unsigned char)lexer->text.data[position + 1]))
        return position;
    size_t tag_length = tag_end + 1 - position;
    const char *close = memmem(lexer->text.data + tag_end + 1, lexer->text.length - tag_end - 1,
                               lexer->text.data + position, tag_length);
    return close == NULL ? lexer->text.length + 1 : (size_t)(close - lexer->text.data) + tag_length;
}

static size_t word_end(const struct lexer *lexer, size_t position)
{
    while (position < lexer->text.length && is_word_part((unsigned char)lexer->text.data[position]))
        position++;
    return position;
}

static size_t number_end(const struct lexer *lexer, size_t position)
{
    while (position < lexer->text.length) {
        unsigned char c = (unsigned char)lexer->text.data[position];
        bool exponent_sign = (c == '+' || c == '-') && tolower((unsigned char)lexer->text.data[position - 1]) == 'e';
        if (!isalnum(c) && c != '.' && !exponent_sign)
            break;
        position++;
    }
    return position;
}

struct token lexer_next(struct lexer *lexer)
{
    size_t start = skip_blank(lexer, lexer->position);
    size_t end = start;
    enum token_kind kind = TOKEN_END;
    if (start < lexer->text.length) {
        unsigned char c = (unsigned char)lexer->text.data[start];
        bool escape_string = (c == 'e' || c == 'E') && starts_with(lexer, start + 1, "'");
        if (c == '\'' || escape_string) {
            kind = TOKEN_STRING;
            end = quoted_end(lexer, start + escape_string, escape_string);
        } else if (c == '"') {
            kind = TOKEN_QUOTED_WORD;
            end = quoted_end(lexer, start, false);
        } else if (c == '$' && (end = dollar_quoted_end(lexer, start)) > start) {
            kind = TOKEN_STRING;
        } else if (is_word_start(c)) {
            kind = TOKEN_WORD;
            end = word_end(lexer, start);
        } else if (isdigit(c)) {
            kind = TOKEN_NUMBER;
            end = number_end(lexer, start);
        } else {
            kind = TOKEN_SYMBOL;
            end = start + 1;
        }
    }
    bool unterminated = end > lexer->text.length;
    end = MIN(end, lexer->text.length);
    lexer->position = end;
    return (struct token){
        .kind = kind, .unterminated = unterminated, .offset = start, .text = {lexer->text.data + start, end - start}};
}

bool token_is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_WORD && token->text.length == strlen(word) &&
           strncasecmp(token->text.data, word, token->text.length) == 0;
}

bool token_is_symbol(const struct token *token, char symbol)
{
    return token->kind == TOKEN_SYMBOL && token->text.data[0] == symbol;
}

/* What a backslash and `c` stand for in an escape string; the octal and Unicode forms are left as they are written. */
static char unescaped(char c)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *place = c == '\0' ? NULL : strchr(letters, c);
    return place == NULL ? c : meanings[place - letters];
}

static kith_error *quoted_value(struct str text, bool backslash_escapes, struct strbuf *out)
{
    for (size_t i = 1; i + 1 < text.length; i++) {
        char c = text.data[i];
        if (backslash_escapes && c == '\\' && i + 2 < text.length)
            c = unescaped(text.data[++i]);
        else if (c == text.data[0])
            i++;
        TRY(strbuf_append(out, &c, 1));
    }
    return NULL;
}

kith_error *token_value(const struct token *token, struct strbuf *out)
{
    struct str text = token->text;
    if (token->kind == TOKEN_WORD) {
        for (size_t i = 0; i < text.length; i++)
            TRY(strbuf_append(out, &(char){(char)tolower((unsigned char)text.data[i])}, 1));
        return NULL;
    }
    if (token->kind != TOKEN_STRING && token->kind != TOKEN_QUOTED_WORD)
        return strbuf_append(out, text.data, text.length);
    if (text.data[0] == '$') {
        const char *tag_end = memchr(text.data + 1, '$', text.length - 1);
        size_t tag_length = (size_t)(tag_end - text.data) + 1;
        return strbuf_append(out, text.data + tag_length, text.length - 2 * tag_length);
    }
    bool escape_string = text.data[0] == 'e' || text.data[0] == 'E';
    return quoted_value((struct str){text.data + escape_string, text.length - escape_string}, escape_string, out);
}
