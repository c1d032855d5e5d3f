/* Alignment of two ordered trees; `tree_align_reference.py` is the reference implementation.

   A tree is the list of its nodes in postorder, and `l[x]` is the leftmost leaf below node x, so that nodes
   l[x]..x are the subtree of x.  All tables are over prefixes of such a range on both sides (Zhang & Shasha 1989):
   cell (x, y) is the forest l[i]..x with the forest l[j]..y, for one pair of key roots (i, j).  The matrix `mass` holds
   the value of the subtrees of x and y if x and y are aligned; it is filled from small trees to large ones.  The input
   may be a forest: besides the key roots there is one range over all nodes. */
#include "tree_align.h"

#include <math.h>

#define NONE (-1e30f)
#define NEVER (-1e300)
#define NEGLIGIBLE 1e-12

/* 1 if l describes a forest, so that all indices below are within bounds. */
int is_forest(const int32_t *l, int32_t n) {
    for (int32_t x = 0; x < n; x++) {
        int32_t at = x - 1;
        if (l[x] < 0 || l[x] > x) return 0;
        while (at >= l[x]) at = l[at] - 1;
        if (at != l[x] - 1) return 0;
    }
    return 1;
}

/* Key roots: the last node with each leftmost leaf, except for the first leaf, whose range is all nodes. */
static int32_t key_roots(const int32_t *l, int32_t n, int32_t *roots, int32_t *seen) {
    int32_t count = 0;
    for (int32_t x = 0; x < n; x++) seen[x] = -1;
    for (int32_t x = 0; x < n; x++) seen[l[x]] = x;
    for (int32_t x = 0; x < n; x++)
        if (l[x] && seen[l[x]] == x) roots[count++] = x;
    roots[count++] = n - 1;
    return count;
}

static int32_t first_of(const int32_t *l, int32_t root, int32_t at, int32_t count) {
    return at == count - 1 ? 0 : l[root];
}

/* Best values of all pairs of prefixes of two ranges; with `fill`, adds them to `mass` for aligned roots. */
static void best_forests(
    const int32_t *l, const int32_t *r, int32_t m, int32_t li, int32_t i, int32_t lj, int32_t j, float *mass,
    float *table, int fill) {
    int64_t width = (int64_t)j - lj + 2;
    for (int64_t y = 0; y < width; y++) table[y] = 0;
    for (int32_t x = li; x <= i; x++) {
        float *row = table + (x - li + 1) * width, *above = row - width;
        const float *base = table + (l[x] - li) * width;
        float *gains = mass + (int64_t)x * m + lj;
        const int32_t *right = r + lj;
        float best = 0;
        row[0] = 0;
        if (fill && l[x] == li)
            for (int64_t y = 0; y < width - 1; y++)
                if (right[y] == lj && gains[y] > 0) gains[y] += above[y];
        for (int64_t y = 0; y < width - 1; y++) {
            float both = base[right[y] - lj] + gains[y], alone = above[y + 1];
            both = both > alone ? both : alone;
            best = best > both ? best : both;
            row[y + 1] = best;
        }
    }
}

/* 1 if the values of two ranges change `mass`: both need a node, other than a leaf, that begins with the range, and
   these may be aligned. */
static int is_used(
    const int32_t *l, const int32_t *r, int32_t m, int32_t li, int32_t i, int32_t lj, int32_t j, const float *mass) {
    if (lj == j) return 0;
    for (int32_t x = li + 1; x <= i; x++)
        if (l[x] == li)
            for (int32_t y = lj + 1; y <= j; y++)
                if (r[y] == lj && mass[(int64_t)x * m + y] > 0) return 1;
    return 0;
}

/* Writes the pairs of the best alignment, unordered; returns their number, or -1 if a tree is invalid.
   mass: n x m gains, which are overwritten; a pair whose gain is not above zero is never aligned.
   table: (n + 1) x (m + 1).  scratch: 2 n + 2 m.  xs, ys, stack: min(n, m), the last twice as much. */
int32_t tree_decode(
    const int32_t *l, int32_t n, const int32_t *r, int32_t m, float *mass, float *table, int32_t *scratch, int32_t *xs,
    int32_t *ys, int32_t *stack) {
    if (n < 1 || m < 1 || !is_forest(l, n) || !is_forest(r, m)) return -1;
    int32_t *lefts = scratch, *rights = scratch + 2 * (int64_t)n;
    int32_t a = key_roots(l, n, lefts, lefts + n), b = key_roots(r, m, rights, rights + m);
    for (int64_t cell = 0; cell < (int64_t)n * m; cell++)
        if (!(mass[cell] > 0)) mass[cell] = NONE;
    for (int32_t p = 0; p < a; p++)
        for (int32_t q = 0; q < b; q++) {
            int32_t first = first_of(l, lefts[p], p, a), other = first_of(r, rights[q], q, b);
            int is_last = p == a - 1 && q == b - 1; /* the path is traced through its table */
            if (is_last || is_used(l, r, m, first, lefts[p], other, rights[q], mass))
                best_forests(l, r, m, first, lefts[p], other, rights[q], mass, table, 1);
        }
    int32_t found = 0, waiting = 0, i = n - 1, j = m - 1, li = 0, lj = 0;
    for (;;) { /* each round traces back through the table of one pair of ranges */
        int64_t width = (int64_t)j - lj + 2;
        if (found) best_forests(l, r, m, li, i, lj, j, mass, table, 0);
        int32_t x = i, y = j;
        while (x >= li && y >= lj) {
            float *row = table + (x - li + 1) * width + (y - lj + 1);
            if (row[0] == row[-width]) x--;
            else if (row[0] == row[-1]) y--;
            else {
                xs[found] = x, ys[found] = y, found++;
                if (l[x] == li && r[y] == lj) x--, y--; /* the nodes below are in this table */
                else {
                    if (l[x] < x && r[y] < y) stack[2 * waiting] = x, stack[2 * waiting + 1] = y, waiting++;
                    int32_t last = l[x] - 1;
                    y = r[y] - 1, x = last;
                }
            }
        }
        if (!waiting) return found;
        waiting--;
        i = stack[2 * waiting] - 1, j = stack[2 * waiting + 1] - 1;
        li = l[i + 1], lj = r[j + 1];
    }
}

static double add_logs(double a, double b) {
    double high = a > b ? a : b, low = a > b ? b : a;
    return high - low > 40 ? high : high + log1p(exp(low - high));
}

/* Log sums over the alignments of prefixes of two ranges: `table` has all, `kept` those in which the last left node
   is aligned. */
static void sum_forests(
    const int32_t *l, const int32_t *r, int32_t m, int32_t li, int32_t i, int32_t lj, int32_t j, const double *gains,
    double *mass, double *table, double *kept, int fill) {
    int64_t width = (int64_t)j - lj + 2;
    for (int64_t y = 0; y < width; y++) table[y] = 0, kept[y] = NEVER;
    for (int32_t x = li; x <= i; x++) {
        double *row = table + (x - li + 1) * width, *above = row - width, *own = kept + (x - li + 1) * width;
        const double *base = table + (l[x] - li) * width;
        row[0] = 0, own[0] = NEVER;
        for (int32_t y = lj; y <= j; y++) {
            int64_t cell = (int64_t)x * m + y, at = y - lj + 1;
            if (fill && l[x] == li && r[y] == lj) mass[cell] = gains[cell] + above[at - 1];
            own[at] = add_logs(own[at - 1], base[r[y] - lj] + mass[cell]);
            row[at] = add_logs(above[at], own[at]);
        }
    }
}

/* Derivatives of the log total by the log of each cell, from the last cell to the first: `flow` starts with the flow
   into the cells of this pair of ranges from outside, `counts` accumulates the flow through each pair of nodes. */
static void flow_back(
    const int32_t *l, const int32_t *r, int32_t m, int32_t li, int32_t i, int32_t lj, int32_t j, const double *mass,
    const double *table, const double *kept, double *flow, double *counts) {
    int64_t width = (int64_t)j - lj + 2;
    for (int32_t x = i; x >= li; x--) {
        int64_t line = (x - li + 1) * width, base = (l[x] - li) * width;
        double carried = 0;
        for (int32_t y = j; y >= lj; y--) {
            int64_t cell = (int64_t)x * m + y, at = line + y - lj + 1, under = base + r[y] - lj;
            double through = flow[at];
            if (through > 0) {
                flow[at - width] += through * exp(table[at - width] - table[at]);
                carried += through * exp(kept[at] - table[at]);
            }
            if (carried > NEGLIGIBLE) {
                double share = exp(table[under] + mass[cell] - kept[at]);
                if (share > 1) share = 1;
                flow[under] += carried * share;
                counts[cell] += carried * share;
                carried *= 1 - share;
            }
            if (l[x] == li && r[y] == lj) flow[at - width - 1] += counts[cell];
        }
    }
}

/* 1 if there is flow into a pair of key roots from larger ones. */
static int has_flow(
    const int32_t *l, const int32_t *r, int32_t m, int32_t li, int32_t i, int32_t lj, int32_t j, const double *counts) {
    for (int32_t x = li; x <= i; x++)
        if (l[x] == li)
            for (int32_t y = lj; y <= j; y++)
                if (r[y] == lj && counts[(int64_t)x * m + y] > NEGLIGIBLE) return 1;
    return 0;
}

/* The log of the sum over all alignments, and for each pair of nodes the share of alignments that contain it.
   gains: n x m.  mass, counts: n x m.  tables: 3 x (n + 1) x (m + 1).  scratch: 2 n + 2 m.  Returns NaN if a tree is invalid. */
double tree_expect(
    const int32_t *l, int32_t n, const int32_t *r, int32_t m, const double *gains, double *mass, double *counts,
    double *tables, int32_t *scratch) {
    if (n < 1 || m < 1 || !is_forest(l, n) || !is_forest(r, m)) return NAN;
    int32_t *lefts = scratch, *rights = scratch + 2 * (int64_t)n;
    int32_t a = key_roots(l, n, lefts, lefts + n), b = key_roots(r, m, rights, rights + m);
    int64_t size = ((int64_t)n + 1) * ((int64_t)m + 1);
    double *table = tables, *kept = tables + size, *flow = tables + 2 * size;
    for (int32_t p = 0; p < a; p++)
        for (int32_t q = 0; q < b; q++)
            sum_forests(
                l, r, m, first_of(l, lefts[p], p, a), lefts[p], first_of(r, rights[q], q, b), rights[q], gains, mass,
                table, kept, 1);
    double whole = table[size - 1];
    for (int64_t cell = 0; cell < (int64_t)n * m; cell++) counts[cell] = 0;
    for (int32_t p = a - 1; p >= 0; p--)
        for (int32_t q = b - 1; q >= 0; q--) {
            int32_t i = lefts[p], j = rights[q], li = first_of(l, i, p, a), lj = first_of(r, j, q, b);
            int is_all = p == a - 1 && q == b - 1;
            if (!is_all && !has_flow(l, r, m, li, i, lj, j, counts)) continue;
            if (!is_all) sum_forests(l, r, m, li, i, lj, j, gains, mass, table, kept, 0);
            int64_t cells = ((int64_t)i - li + 2) * ((int64_t)j - lj + 2);
            for (int64_t cell = 0; cell < cells; cell++) flow[cell] = 0;
            if (is_all) flow[cells - 1] = 1;
            flow_back(l, r, m, li, i, lj, j, mass, table, kept, flow, counts);
        }
    return whole;
}
