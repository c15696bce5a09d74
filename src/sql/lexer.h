/*
 * A lexer for what must be known before PostgreSQL's parser sees a text: where statements end, how many tokens there
 * are, how deeply parentheses nest, and the tokens of the few statements that PostgreSQL has no grammar for. Follows
 * PostgreSQL's rules for strings ('' and E'' and $tag$), quoted identifiers and comments; it never refuses: what is
 * unterminated runs to the end.
 */
#ifndef KITH_SQL_LEXER_H
#define KITH_SQL_LEXER_H

#include "base/strbuf.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED_WORD, TOKEN_STRING, TOKEN_NUMBER, TOKEN_SYMBOL };

struct token {
    enum token_kind kind;
    bool unterminated; /* a string or quoted word that runs to the end of the text */
    size_t offset;     /* in the text */
    struct str text;   /* as written, quotes included; a symbol is one byte */
};

struct lexer {
    struct str text;
    size_t position;
};

/* The next token after white space and comments. */
struct token lexer_next(struct lexer *lexer);

/* ASCII case is ignored. */
bool token_is_word(const struct token *token, const char *word);
bool token_is_symbol(const struct token *token, char symbol);

/* The value of a terminated string or quoted word: quotes or tags removed, what is doubled or escaped undone. Unquoted
 * words are folded to lower case. */
kith_error *token_value(const struct token *token, struct strbuf *out) _must_check_;

#endif
