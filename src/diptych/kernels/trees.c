/* The score of a forest of decision trees; `learn/trees.py` is its readable form. */
#include <stdint.h>

/* Sums of the leaves that rows of features reach in a forest; trees begin at `roots`. */
void forest(
    const float *rows, int64_t n, int32_t width, const int32_t *roots, int32_t n_trees, const int16_t *features,
    const float *thresholds, const int32_t *lefts, const int32_t *rights, const float *values, float base, float *out) {
    for (int64_t i = 0; i < n; i++) {
        const float *row = rows + i * width;
        double sum = base;
        for (int32_t tree = 0; tree < n_trees; tree++) {
            int32_t node = roots[tree];
            while (features[node] >= 0) node = row[features[node]] <= thresholds[node] ? lefts[node] : rights[node];
            sum += values[node];
        }
        out[i] = (float)sum;
    }
}
