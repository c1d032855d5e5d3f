/* Functions of `tree_align.c` that `tree_match.c` calls; they are explained there. */
#include <stdint.h>

int is_forest(const int32_t *l, int32_t n);

int32_t tree_decode(
    const int32_t *l, int32_t n, const int32_t *r, int32_t m, float *mass, float *table, int32_t *scratch, int32_t *xs,
    int32_t *ys, int32_t *stack);
