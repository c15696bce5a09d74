/*
 * Results that are not a query's: settings and tables. All are tables of text columns.
 */
#ifndef KITH_FRONTENDS_SESSION_SHOW_H
#define KITH_FRONTENDS_SESSION_SHOW_H

#include "frontends/catalog.h"
#include "frontends/session.h"

kith_error *session_show_setting(const struct settings *settings, enum setting setting,
                                 struct session_sink *sink) _must_check_;
kith_error *session_show_settings(const struct settings *settings, struct session_sink *sink) _must_check_;
kith_error *session_show_tables(const struct catalog *catalog, struct session_sink *sink) _must_check_;

#endif
