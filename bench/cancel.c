/*
 * `kith bench cancel`: from cancelling a query to nothing left of it.
 */
#include "frontends/cli/commands.h"

int main(int argc, char **argv)
{
    return command_bench_cancel(argc, argv);
}
