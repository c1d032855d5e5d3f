/* The score of a forest of decision trees; `learn/trees.py` has the reference implementation. */
#include <stdint.h>

#define BLOCK 128

/* Sums of the leaves that rows of features reach in a forest; `roots` holds the first node of each tree. */
void forest(
    const float *rows, int64_t n, int32_t width, const int32_t *roots, int32_t n_trees, const int16_t *features,
    const float *thresholds, const int32_t *lefts, const int32_t *rights, const float *values, float base, float *out) {
    /* Process rows in blocks, so that a tree stays in the cache for all rows of a block. */
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t end = start + BLOCK < n ? start + BLOCK : n;
        double sums[BLOCK];
        for (int64_t i = start; i < end; i++) sums[i - start] = base;
        for (int32_t tree = 0; tree < n_trees; tree++)
            for (int64_t i = start; i < end; i++) {
                const float *row = rows + i * width;
                int32_t node = roots[tree];
                while (features[node] >= 0) node = row[features[node]] <= thresholds[node] ? lefts[node] : rights[node];
                sums[i - start] += values[node];
            }
        for (int64_t i = start; i < end; i++) out[i] = (float)sums[i - start];
    }
}
