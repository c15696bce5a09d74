/*
 * The program's commands. Each parses its own arguments (argv[0] is the command's name) and returns the exit status: 0
 * for success, 1 for an error that was told, 2 for wrong usage.
 */
#ifndef KITH_FRONTENDS_CLI_COMMANDS_H
#define KITH_FRONTENDS_CLI_COMMANDS_H

int command_bench(int argc, char **argv);
int command_bench_cancel(int argc, char **argv); /* `kith bench cancel`, also the program bench/cancel */
int command_bench_fair(int argc, char **argv);
int command_sql(int argc, char **argv);
int command_worker(int argc, char **argv);

#endif
