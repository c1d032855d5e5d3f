/* The gains of node pairs, and the alignment of nodes: the best one in order, then pairs out of order.

   The reference implementations are `evidence.py`, `crossing.py`, `cut.py` and `lists.py` in
   `stages/align_dom/domtree`.  `kernels/tree_match.py` checks the input. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tree_align.h"

typedef struct {
    int64_t nodes;
    const int32_t *row;   /* nodes: row in the matrix of word gains, or -1 if the node has no text */
    const double *length; /* nodes: length of the text */
    const int32_t *tag;   /* nodes: index in the table of tags */
    const int32_t *href, *name; /* nodes: number of the link's target and of its last part, or -1 */
    const double *words;  /* nodes: number of words */
    const int32_t *block; /* nodes: number of the block, or -1 */
    const int32_t *leftmost;
} Side;

typedef struct {
    double words, length, one_sided, same_link; /* weights */
    double fine, ratio;                         /* length of the last linear bin, and ratio of two bins after it */
    int64_t bins, tags;
    const float *length_table; /* bins x bins */
    const float *tag_table;    /* tags x tags */
    double swap, crossing, per_word, most_words, no_evidence;
} Settings;

/* The bin of each length. */
static void bin_lengths(const Side *side, const Settings *settings, int32_t *bins) {
    for (int64_t k = 0; k < side->nodes; k++) {
        double length = side->length[k], low = length < settings->fine ? length : settings->fine;
        double high = length > settings->fine ? length : settings->fine;
        double bin = rint(low + log(high / settings->fine) / log(settings->ratio));
        bins[k] = (int32_t)(bin < (double)(settings->bins - 1) ? bin : (double)(settings->bins - 1));
    }
}

/* Writes the gain of each pair of nodes from texts and links, and that from texts, links and tags.
   words: the matrix of word gains, with `width` columns.  Returns 0 if memory is exhausted. */
int32_t tree_gains(
    const Side *left, const Side *right, const Settings *settings, const float *words, int64_t width, float *texts,
    float *gains) {
    int64_t n = left->nodes, m = right->nodes;
    int32_t *ours = malloc((size_t)(n + m + 1) * sizeof *ours), *theirs = ours + n;
    float half = (float)(settings->same_link / 2), alone = (float)-settings->one_sided;
    float of_words = (float)settings->words, of_length = (float)settings->length;
    if (!ours) return 0;
    bin_lengths(left, settings, ours);
    bin_lengths(right, settings, theirs);
    for (int64_t i = 0; i < n; i++) {
        const float *word_row = words + (left->row[i] < 0 ? 0 : left->row[i] * width);
        const float *length_row = settings->length_table + ours[i] * settings->bins;
        const float *tag_row = settings->tag_table + left->tag[i] * settings->tags;
        float *text_row = texts + i * m, *gain_row = gains + i * m;
        int has_text = left->row[i] >= 0, has_link = left->href[i] >= 0;
        for (int64_t j = 0; j < m; j++) {
            int has_other = right->row[j] >= 0;
            float gain = has_text != has_other ? alone : 0;
            if (has_text && has_other) gain = of_words * word_row[right->row[j]] + of_length * length_row[theirs[j]];
            if (has_link && half && right->href[j] >= 0) {
                if (left->href[i] == right->href[j]) gain += half;
                if (left->name[i] == right->name[j]) gain += half;
            }
            text_row[j] = gain;
            gain_row[j] = gain + tag_row[right->tag[j]];
        }
    }
    free(ours);
    return 1;
}

/* A tree mirrored: the new number of each node, and the first node of each subtree.  begun: n + 1 zeros. */
static void mirror(const int32_t *leftmost, int64_t n, int32_t *number, int32_t *tree, int32_t *begun) {
    for (int64_t x = 0; x < n; x++) begun[leftmost[x]]++;
    for (int64_t x = 0, sum = 0; x < n; x++) {
        sum += begun[x];
        int32_t depth = (int32_t)(sum - x - 1);
        number[x] = (int32_t)(n - 1 - (leftmost[x] + depth));
    }
    for (int64_t x = 0; x < n; x++) tree[number[x]] = number[x] - (int32_t)(x - leftmost[x]);
}

/* The number of rows that a tree needs in the tables: `cut.py` explains it.  last: n + 1 numbers. */
static int64_t table_rows(const int32_t *leftmost, int64_t n, int32_t *last) {
    int64_t rows = n + 1;
    for (int64_t x = 0; x < n; x++) last[x] = 0;
    for (int64_t x = 0; x < n; x++) last[leftmost[x]] = (int32_t)x;
    for (int64_t x = 1; x < n; x++)
        if (last[x]) rows += last[x] - x + 2;
    return rows;
}

/* Writes the partner of each left node in the best alignment of two forests, or -1.
   Both forests are mirrored if that needs fewer cells.  Returns 1, 0 if a tree is invalid, -1 if memory is exhausted. */
int32_t tree_partners(
    const int32_t *left, int32_t n, const int32_t *right, int32_t m, const float *gains, int32_t *partner) {
    int64_t all = (int64_t)n + m, least = n < m ? n : m;
    int32_t *numbers = calloc((size_t)(11 * all + 4 * least + 8), sizeof *numbers);
    float *mass = malloc(((size_t)n * (size_t)m + 1) * sizeof *mass);
    float *table = malloc((size_t)(n + 1) * (size_t)(m + 1) * sizeof *table);
    int32_t done = -1;
    for (int32_t x = 0; x < n; x++) partner[x] = -1;
    if (numbers && mass && table) {
        int32_t *back = numbers + all, *tree = back + all, *scratch = tree + all, *begun = scratch + 2 * all;
        int32_t *xs = begun + all + 2, *ys = xs + least, *stack = ys + least;
        int32_t *other = tree + n;
        done = is_forest(left, n) && is_forest(right, m);
        int is_mirrored = 0;
        if (done) {
            mirror(left, n, numbers, tree, begun);
            memset(begun, 0, (size_t)(all + 2) * sizeof *begun);
            mirror(right, m, numbers + n, other, begun);
            is_mirrored = table_rows(left, n, begun) * table_rows(right, m, begun) >
                          table_rows(tree, n, begun) * table_rows(other, m, begun);
            for (int32_t x = 0; x < n; x++) back[numbers[x]] = x;
            for (int32_t y = 0; y < m; y++) back[n + numbers[n + y]] = y;
            if (is_mirrored) {
                for (int64_t x = 0; x < n; x++)
                    for (int64_t y = 0; y < m; y++) mass[x * m + y] = gains[(int64_t)back[x] * m + back[n + y]];
            } else memcpy(mass, gains, (size_t)n * (size_t)m * sizeof *mass);
            int32_t found = tree_decode(
                is_mirrored ? tree : left, n, is_mirrored ? other : right, m, mass, table, scratch, xs, ys, stack);
            for (int32_t k = 0; k < found; k++) {
                if (is_mirrored) partner[back[xs[k]]] = back[n + ys[k]];
                else partner[xs[k]] = ys[k];
            }
        }
    }
    free(numbers), free(mass), free(table);
    return done;
}

typedef struct {
    const Side *left, *right;
    const Settings *settings;
    const float *gains;
    int32_t *partner, *owner; /* of the nodes of both sides, or -1 */
} Pairing;

/* Lets the pairs of two neighbouring blocks cross: `with_swapped`. */
static void swap_pairs(Pairing *pairing, const int32_t *ours, int64_t count, const int32_t *after, const int32_t *before) {
    const float *gains = pairing->gains;
    int64_t m = pairing->right->nodes;
    int32_t *partner = pairing->partner;
    float margin = (float)pairing->settings->swap;
    for (int64_t k = 1; k < count; k++) {
        int64_t first = ours[k - 1], second = ours[k];
        int32_t one = partner[first], two = partner[second];
        if (one >= 0 && two >= 0) {
            float crosswise = gains[first * m + two] + gains[second * m + one];
            if (after[one] == two && crosswise > gains[first * m + one] + gains[second * m + two] + margin)
                partner[first] = two, partner[second] = one, pairing->owner[two] = (int32_t)first,
                pairing->owner[one] = (int32_t)second;
            continue;
        }
        int64_t alone = one >= 0 ? second : first;
        int32_t place = one >= 0 ? before[one] : two >= 0 ? after[two] : -1;
        if (place >= 0 && pairing->owner[place] < 0 && gains[alone * m + place] > margin)
            partner[alone] = place, pairing->owner[place] = (int32_t)alone;
    }
}

/* The gain of two nodes beyond the minimum for pairs out of order. */
static float surplus(const Pairing *pairing, int64_t i, int64_t j) {
    const Settings *settings = pairing->settings;
    double size = pairing->left->words[i] < pairing->right->words[j] ? pairing->left->words[i] : pairing->right->words[j];
    double least = settings->per_word * (size < settings->most_words ? size : settings->most_words);
    return (float)((double)pairing->gains[i * pairing->right->nodes + j] - least);
}

/* Rows and columns of a matrix that are each other's best match by a margin: `mutual_best`.
   values: rows x columns.  best: `columns` numbers.  Returns their number. */
static int64_t mutual_best(
    const float *values, int64_t rows, int64_t columns, float margin, int32_t *best, int32_t *found_row, int32_t *found) {
    int64_t count = 0;
    for (int64_t j = 0; j < columns; j++) best[j] = 0;
    for (int64_t i = 1; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            if (values[i * columns + j] > values[best[j] * columns + j]) best[j] = (int32_t)i;
    for (int64_t i = 0; rows && columns && i < rows; i++) {
        const float *row = values + i * columns;
        int64_t top = 0;
        for (int64_t j = 1; j < columns; j++)
            if (row[j] > row[top]) top = j;
        if (best[top] != i || !(row[top] >= margin)) continue;
        float rival = 0;
        for (int64_t j = 0; j < columns; j++)
            if (j != top && row[j] > rival) rival = row[j];
        for (int64_t k = 0; k < rows; k++)
            if (k != i && values[k * columns + top] > rival) rival = values[k * columns + top];
        if (row[top] - rival >= margin) found_row[count] = (int32_t)i, found[count++] = (int32_t)top;
    }
    return count;
}

static void fill_surplus(
    const Pairing *pairing, const int32_t *ours, int64_t rows, const int32_t *theirs, int64_t columns, float *values) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) values[i * columns + j] = surplus(pairing, ours[i], theirs[j]);
}

/* Adds pairs of blocks that clearly match although their order differs: `with_moved`.
   work: 5 x (rows + columns). */
static void move_pairs(
    Pairing *pairing, int32_t *ours, int64_t rows, int32_t *theirs, int64_t columns, float *values, int32_t *work) {
    int32_t *partner = pairing->partner, *owner = pairing->owner;
    int64_t most = rows + columns, freed = 0, left = 0, right = 0;
    int32_t *best = work, *is = work + most, *js = is + most, *freed_row = js + most, *freed_column = freed_row + most;
    float margin = (float)pairing->settings->crossing;
    fill_surplus(pairing, ours, rows, theirs, columns, values);
    int64_t count = mutual_best(values, rows, columns, margin, best, is, js);
    for (int64_t k = 0; k < count; k++) {
        int32_t i = ours[is[k]], j = theirs[js[k]];
        if (partner[i] == j) continue;
        int32_t other = partner[i], before = owner[j];
        if (other >= 0) owner[other] = -1;
        if (before >= 0) partner[before] = -1;
        partner[i] = j, owner[j] = i;
        if (other >= 0 && before >= 0) freed_row[freed] = before, freed_column[freed++] = other;
    }
    for (int64_t k = 0; k < freed; k++) {
        int32_t i = freed_row[k], j = freed_column[k];
        if (partner[i] < 0 && owner[j] < 0 && surplus(pairing, i, j) > 0) partner[i] = j, owner[j] = i;
    }
    for (int64_t k = 0; k < rows; k++)
        if (partner[ours[k]] < 0) ours[left++] = ours[k];
    for (int64_t k = 0; k < columns; k++)
        if (owner[theirs[k]] < 0) theirs[right++] = theirs[k];
    fill_surplus(pairing, ours, left, theirs, right, values);
    count = mutual_best(values, left, right, margin, best, is, js);
    for (int64_t k = 0; k < count; k++) partner[ours[is[k]]] = theirs[js[k]];
}

/* Pairs blocks out of order, and writes the left nodes of pairs in whose contents nothing shows that they correspond.
   partner: of each left node, or -1; it is changed.  Returns the number of those nodes, or -1 if memory is exhausted. */
int64_t tree_reorder(
    const Side *left, const Side *right, const Settings *settings, const float *texts, const float *gains,
    int32_t *partner, int32_t *doubts) {
    int64_t n = left->nodes, m = right->nodes, rows = 0, columns = 0, count = -1;
    int32_t *numbers = malloc((size_t)(11 * (n + m) + 8) * sizeof *numbers);
    if (!numbers) return -1;
    int32_t *ours = numbers, *theirs = ours + n, *owner = theirs + m, *after = owner + m, *before = after + m;
    int32_t *bins = before + m, *work = bins + n + m;
    for (int32_t i = 0; i < n; i++)
        if (left->block[i] >= 0) ours[rows++] = i;
    for (int32_t j = 0; j < m; j++) {
        owner[j] = after[j] = before[j] = -1;
        if (right->block[j] < 0) continue;
        if (columns) after[theirs[columns - 1]] = j, before[j] = theirs[columns - 1];
        theirs[columns++] = j;
    }
    for (int32_t i = 0; i < n; i++)
        if (partner[i] >= 0) owner[partner[i]] = i;
    Pairing pairing = {left, right, settings, gains, partner, owner};
    float *values = malloc(((size_t)rows * (size_t)columns + 1) * sizeof *values);
    if (values) {
        swap_pairs(&pairing, ours, rows, after, before);
        move_pairs(&pairing, ours, rows, theirs, columns, values, work);
        bin_lengths(left, settings, bins);
        bin_lengths(right, settings, bins + n);
        count = 0;
        for (int32_t i = 0; i < n; i++) {
            int32_t j = partner[i];
            if (j < 0 || left->block[i] < 0 || right->block[j] < 0 || left->row[i] < 0 || right->row[j] < 0) continue;
            float length = (float)settings->length * settings->length_table[bins[i] * settings->bins + bins[n + j]];
            if (texts[i * m + j] - length < (float)settings->no_evidence) doubts[count++] = i;
        }
    }
    free(numbers), free(values);
    return count;
}

/* Writes the content gain of each pair of items: the mean over both directions of the sum of each block's best gain.
   cells: the gain of each pair of blocks, with `width` columns; an item has the blocks from[k] .. to[k] - 1, and NaN if
   there are none. */
void tree_items(
    const float *cells, int64_t width, int64_t rows, const int32_t *from, const int32_t *to, int64_t columns,
    const int32_t *other_from, const int32_t *other_to, float *out) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            float there = 0, back = 0;
            for (int64_t a = from[i]; a < to[i]; a++) {
                const float *row = cells + a * width;
                float best = -INFINITY;
                for (int64_t b = other_from[j]; b < other_to[j]; b++) best = row[b] > best ? row[b] : best;
                there += best;
            }
            for (int64_t b = other_from[j]; b < other_to[j]; b++) {
                float best = -INFINITY;
                for (int64_t a = from[i]; a < to[i]; a++) best = cells[a * width + b] > best ? cells[a * width + b] : best;
                back += best;
            }
            out[i * columns + j] = from[i] < to[i] && other_from[j] < other_to[j] ? (there + back) / 2 : NAN;
        }
}
