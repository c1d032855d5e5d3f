/* The score of a forest of decision trees; `learn/trees.py` has the reference implementation. */
#include <stdint.h>

#define BLOCK 128
#define TOGETHER 8 /* rows that descend a tree together, so that the processor need not wait for each step */

/* A node; a leaf has its value as bound, and leads to itself. */
typedef struct {
    float bound;
    int32_t feature, next[2];
} Node;

/* Writes the nodes of a forest, and the height of each above its deepest leaf.  Children come after their parents. */
void forest_pack(
    int64_t size, const int16_t *features, const float *thresholds, const int32_t *lefts, const int32_t *rights,
    const float *values, Node *nodes, int32_t *heights) {
    for (int64_t k = size - 1; k >= 0; k--) {
        int is_leaf = features[k] < 0;
        nodes[k].bound = is_leaf ? values[k] : thresholds[k];
        nodes[k].feature = is_leaf ? 0 : features[k];
        nodes[k].next[0] = is_leaf ? (int32_t)k : lefts[k];
        nodes[k].next[1] = is_leaf ? (int32_t)k : rights[k];
        int32_t left = is_leaf ? 0 : heights[lefts[k]] + 1, right = is_leaf ? 0 : heights[rights[k]] + 1;
        heights[k] = left > right ? left : right;
    }
}

static int32_t step(const Node *node, const float *row) { return node->next[!(row[node->feature] <= node->bound)]; }

/* Adds the leaves that rows reach in one tree to their sums. */
static void descend(const Node *nodes, int32_t root, int32_t height, const float *rows, int64_t n, int32_t width, double *sums) {
    int64_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER, rows += TOGETHER * (int64_t)width) {
        int32_t at[TOGETHER];
        for (int k = 0; k < TOGETHER; k++) at[k] = root;
        for (int32_t left = height; left; left--)
            for (int k = 0; k < TOGETHER; k++) at[k] = step(nodes + at[k], rows + k * (int64_t)width);
        for (int k = 0; k < TOGETHER; k++) sums[i + k] += nodes[at[k]].bound;
    }
    for (; i < n; i++, rows += width) {
        int32_t at = root;
        while (nodes[at].next[0] != at) at = step(nodes + at, rows);
        sums[i] += nodes[at].bound;
    }
}

/* Sums of the leaves that rows of features reach in a forest; `roots` holds the first node of each tree. */
void forest(
    const float *rows, int64_t n, int32_t width, const int32_t *roots, int32_t n_trees, const Node *nodes,
    const int32_t *heights, float base, float *out) {
    /* Process rows in blocks, so that a tree stays in the cache for all rows of a block. */
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t count = start + BLOCK < n ? BLOCK : n - start;
        double sums[BLOCK];
        for (int64_t i = 0; i < count; i++) sums[i] = base;
        for (int32_t tree = 0; tree < n_trees; tree++)
            descend(nodes, roots[tree], heights[roots[tree]], rows + start * width, count, width, sums);
        for (int64_t i = 0; i < count; i++) out[start + i] = (float)sums[i];
    }
}
