/*
 * Writes a table of scores (cluster_fixture.h): make_scores PATH SEED GROUPS ROWS BEST
 */
#include "cluster/cluster_fixture.h"

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: %s PATH SEED GROUPS ROWS BEST\n", argv[0]);
        return 2;
    }
    write_scores(argv[1], strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10),
                 (int)strtol(argv[5], NULL, 10));
    return 0;
}
