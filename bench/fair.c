/*
 * `kith bench fair`: a short query beside heavy ones.
 */
#include "frontends/cli/commands.h"

int main(int argc, char **argv)
{
    return command_bench_fair(argc, argv);
}
