/*
 * Every limit on what an input or a peer can grow, in one place, each with its reason. An error that
 * refuses something names the limit by the word in the first column.
 *
 * X(name, value, unit, reason)
 */
#ifndef KITH_BASE_LIMITS_H
#define KITH_BASE_LIMITS_H

#define KITH_LIMITS(X)                                                                            \
    X(SQL_BYTES, 1048576, "bytes", "the parser's stack use grows with the text")                  \
    X(SQL_TOKENS, 50000, "tokens", "the parser recurses over chains of operators")                \
    X(SQL_NESTING, 256, "levels", "binder and evaluator recurse over expressions")                \
    X(QUERY_TABLES, 256, "tables", "each has partitions and buffers of its own")                  \
    X(EXPR_NODES, 100000, "nodes", "plan memory and wire size grow with expressions")             \
    X(COLUMNS, 10000, "columns", "per-column state is allocated for each stream")                 \
    X(PARQUET_FOOTER_BYTES, 268435456, "bytes", "a declared footer length is read in one piece")  \
    X(PARQUET_ROW_GROUPS, 1000000, "row groups", "metadata of each is kept in memory")            \
    X(PARQUET_PAGE_HEADER_BYTES, 16777216, "bytes", "statistics in a header may hold any string") \
    X(PARQUET_PAGE_BYTES, 1073741824, "bytes", "a declared page size is allocated in one piece")  \
    X(PARQUET_SCHEMA_DEPTH, 64, "levels", "nested schemas are walked with a stack of this size")  \
    X(PARQUET_PATH_BYTES, 8192, "bytes", "a group's name is repeated in the path of each leaf")   \
    X(THRIFT_DEPTH, 64, "levels", "unknown values are skipped with a stack of this size")         \
    X(IPC_METADATA_BYTES, 67108864, "bytes", "a message's metadata is gathered in memory")        \
    X(IPC_DECOMPRESSED_BYTES, 1073741824, "bytes", "of a message, allocated as it declares")      \
    X(IPC_BATCH_ROWS, 2147483647, "rows", "row numbers of a selection have 32 bits")              \
    X(TYPE_NESTING, 64, "levels", "nested types are walked recursively")                          \
    X(STRING_BATCH_BYTES, 2147483647, "bytes", "32-bit offsets of a string column")               \
    X(GRPC_MESSAGE_BYTES, 134217728, "bytes", "a message is gathered in memory before decoding")  \
    X(GRPC_HEADER_BYTES, 65536, "bytes", "headers of one stream are kept until it ends")          \
    X(HTTP2_STREAMS, 1000, "streams", "a peer may open no more at once on one connection")        \
    X(CONNECTIONS, 1000, "connections", "each connection holds a fiber and buffers")              \
    X(PLAN_BYTES, 67108864, "bytes", "a plan is unpacked in memory")                              \
    X(PLAN_UNPACKED_BYTES, 1073741824, "bytes", "two bytes sent may unpack to 200")               \
    X(PLAN_DEPTH, 1000, "levels", "messages; SQL_NESTING levels of CASE take 3 each")             \
    X(PLAN_NESTING, 64, "levels", "operators; plan walks recurse")                                \
    X(PLAN_OPERATORS, 10000, "operators", "each task counts metrics for each")                    \
    X(PLAN_PARTITIONS, 1024, "partitions", "each is a fiber with its buffers")                    \
    X(BOUND_BYTES, 65536, "bytes", "of a Top-K bound's sort key; a longer one is not shared")     \
    X(DYNAMIC_FILTERS, 1024, "filters", "of a plan; a union has one in each scan")                \
    X(BOUND_STEPS, 64, "values", "each is sent with the plan and compared with bounds")           \
    X(BOUND_RANKS, 8, "ranks", "of a message; all tasks' are kept and merged")                    \
    X(TASKS_PER_STAGE, 1000, "tasks", "each task holds a control stream")                         \
    X(CACHED_FILES, 256, "files", "each holds a descriptor and its footer")                       \
    X(GLOB_FILES, 1000000, "files", "a listing is kept in memory")                                \
    X(SORT_KEYS, 64, "keys", "arrays of this size are kept on the stack")                         \
    X(TOPK_ROWS, 10000000, "rows", "the heap is kept in memory")                                  \
    X(ERROR_MESSAGE_BYTES, 4096, "bytes", "messages quote input")                                 \
    X(FIBER_STACK_BYTES, 262144, "bytes", "stack of one fiber, with a guard below")               \
    X(TURN_MILLISECONDS, 50, "milliseconds", "a fiber that keeps its thread for longer is logged")

enum {
#define LIMIT_ENUM(name, value, unit, reason) LIMIT_##name = (value),
    KITH_LIMITS(LIMIT_ENUM)
#undef LIMIT_ENUM
};

#endif
