/* Beads of two texts: word gains, bead scores, and the best path.

   A point (i, j) of the grid lies after i left and j right sentences.  Only the points of a band are
   visited: row i has the points low[i] .. high[i], stored from index start[i] on.
   `beads_reference.py` is the reference implementation. */
#include "beads.h"

#include <math.h>

#define IMPOSSIBLE (-1e30f)
#define MOST_MOVES 32

typedef struct {
    int32_t n, m;
    const int32_t *low, *high;
    const int64_t *start;
} Band;

static int inside(const Band *band, int32_t i, int32_t j) {
    return i >= 0 && i <= band->n && j >= band->low[i] && j <= band->high[i];
}

static int64_t first_from(const int32_t *places, int64_t from, int64_t to, int32_t least) {
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (places[middle] < least) from = middle + 1;
        else to = middle;
    }
    return from;
}

#define LARGE 1e150
#define LONG 100 /* maximum number of words that count as evidence: words of long sentences are not independent */

/* Log-likelihood ratio of each row's words: 1 .. sizes neighbouring places against chance.
   Row j is compared with places low[j] .. high[j] - 1; out has `sizes` layers of `cells`.  Computing a
   logarithm per word and window would dominate the running time, so factors are multiplied; the
   logarithm of the product is taken at the end of the row, or before the product overflows.  Unknown
   words of a place (`loose`) may translate to any word, as by chance.
   room: zeros, one per place.  products: twice `sizes` times the widest row. */
void beads_gains(
    int64_t rows, const int64_t *row_from, const int32_t *row_word, const float *row_count, const int64_t *link_from,
    const int32_t *link_word, const float *link_lift, const int64_t *post_from, const int32_t *post_place,
    const float *post_count, const int32_t *low, const int32_t *high, const int64_t *start, int64_t cells,
    const double *words_before, const double *loose_before, int32_t sizes, double null_share, float *room,
    double *products, float *out) {
    double rest = 1 - null_share;
    int32_t last_low = 0, last_high = 0;
    for (int64_t j = 0; j < rows; j++) {
        int32_t lo = low[j], hi = high[j], width = hi - lo;
        if (lo >= hi) continue;
        double words = 0, *bases = products + (int64_t)sizes * width;
        for (int64_t k = 0; k < (int64_t)sizes * width; k++) products[k] = 1;
        for (int64_t k = 0; (lo != last_low || hi != last_high) && k < (int64_t)sizes * width; k++) {
            int32_t from = lo + (int32_t)(k % width), to = from + (int32_t)(k / width) + 1;
            if (to > hi) to = hi;
            double all = words_before[to] - words_before[from], loose = loose_before[to] - loose_before[from];
            bases[k] = log(null_share + rest * loose / all);
        }
        last_low = lo, last_high = hi;
        for (int64_t t = row_from[j]; t < row_from[j + 1]; t++) {
            int32_t word = row_word[t], first = hi, last = lo - 1;
            words += row_count[t];
            for (int64_t l = link_from[word]; l < link_from[word + 1]; l++) {
                int64_t end = post_from[link_word[l] + 1];
                int64_t p = first_from(post_place, post_from[link_word[l]], end, lo);
                for (; p < end && post_place[p] < hi; p++) {
                    int32_t place = post_place[p];
                    room[place] += link_lift[l] * post_count[p];
                    if (place < first) first = place;
                    if (place > last) last = place;
                }
            }
            for (int32_t size = 1; size <= sizes && first <= last; size++) {
                float *layer = out + (size - 1) * cells + start[j] - lo;
                double *product = products + (int64_t)(size - 1) * width - lo;
                int32_t from = first - size + 1 < lo ? lo : first - size + 1;
                for (int32_t k = from; k <= last && k + size <= hi; k++) {
                    double sum = 0;
                    for (int32_t q = k; q < k + size; q++) sum += room[q];
                    if (sum <= 0) continue;
                    double all = words_before[k + size] - words_before[k];
                    double base = null_share * all + rest * (loose_before[k + size] - loose_before[k]);
                    double factor = 1 + rest * sum / base;
                    if (row_count[t] == 1 && factor < LARGE) product[k] *= factor;
                    else layer[k] += (float)(row_count[t] * log(factor));
                    if (product[k] > LARGE) {
                        layer[k] += (float)log(product[k]);
                        product[k] = 1;
                    }
                }
            }
            for (int32_t k = first; k <= last; k++) room[k] = 0;
        }
        double scale = words > LONG ? LONG / words : 1;
        for (int32_t size = 1; size <= sizes; size++)
            for (int32_t k = lo; k < hi; k++) {
                int64_t at = (int64_t)(size - 1) * width + k - lo;
                float *cell = out + (size - 1) * cells + start[j] + k - lo;
                double base = words * bases[at], product = products[at];
                *cell = (float)(scale * (*cell + base + (product > 1 ? log(product) : 0)));
            }
    }
}

/* Negative log probability of two lengths for a translation: `length_costs.length_cost`. */
static double length_cost(double left, double right, double variance, double most) {
    double mean = (left + right) / 2;
    if (mean <= 0) return 0;
    double tail = erfc(fabs(right - left) / sqrt(variance * mean) * 0.70710678118654752440);
    double cost = tail > 0 ? fabs(log(tail)) : most;
    return cost < most ? cost : most;
}

/* Adds the prior, length and word scores of every move from every point to `scores`.
   by_right[a - 1]: gains of right sentences for windows of a left ones, in columns of the band;
   by_left[b - 1]: gains of left sentences for windows of b right ones, in rows of the band. */
void beads_scores(
    int32_t n, int32_t m, const int32_t *low, const int32_t *high, const int64_t *start, int32_t moves,
    const int32_t *left_counts, const int32_t *right_counts, const double *priors, const double *left_lengths,
    const double *right_lengths, double variance, double most_cost, const float *by_right,
    const int32_t *right_low, const int32_t *right_high, const int64_t *right_start, int64_t right_cells,
    const float *by_left, const int32_t *left_low, const int32_t *left_high, const int64_t *left_start,
    int64_t left_cells, float *scores) {
    Band band = {n, m, low, high, start};
    for (int32_t i = 0; i <= n; i++)
        for (int32_t j = low[i]; j <= high[i]; j++) {
            float *row = scores + (start[i] + j - low[i]) * moves;
            for (int32_t q = 0; q < moves; q++) {
                int32_t a = left_counts[q], b = right_counts[q];
                if (i + a > n || j + b > m || !inside(&band, i + a, j + b)) {
                    row[q] = IMPOSSIBLE;
                    continue;
                }
                double score = priors[q];
                if (a && b) {
                    score -= length_cost(
                        left_lengths[i + a] - left_lengths[i], right_lengths[j + b] - right_lengths[j], variance, most_cost);
                    double words = 0;
                    int whole = 1;
                    for (int32_t y = j; y < j + b; y++) {
                        if (i < right_low[y] || i + a > right_high[y]) whole = 0;
                        else words += by_right[(a - 1) * right_cells + right_start[y] + i - right_low[y]];
                    }
                    for (int32_t x = i; x < i + a; x++) {
                        if (j < left_low[x] || j + b > left_high[x]) whole = 0;
                        else words += by_left[(b - 1) * left_cells + left_start[x] + j - left_low[x]];
                    }
                    score += words / 2;
                    if (!whole) score = IMPOSSIBLE;
                }
                row[q] = (float)(score > IMPOSSIBLE ? row[q] + score : IMPOSSIBLE);
            }
        }
}

static double log_sum(const double *terms, int32_t count) {
    double most = -INFINITY, sum = 0;
    for (int32_t q = 0; q < count; q++)
        if (terms[q] > most) most = terms[q];
    if (most == -INFINITY) return most;
    for (int32_t q = 0; q < count; q++) sum += exp(terms[q] - most);
    return most + log(sum);
}

/* Log of the sum over all paths from the start to each point (before) and from there to the end (after). */
static void sum_ways(
    const Band *band, int32_t moves, const int32_t *left_counts, const int32_t *right_counts, const float *scores,
    double *before, double *after) {
    double terms[MOST_MOVES];
    for (int32_t i = 0; i <= band->n; i++)
        for (int32_t j = band->low[i]; j <= band->high[i]; j++) {
            int32_t count = 0;
            if (!i && !j) terms[count++] = 0;
            for (int32_t q = 0; q < moves; q++) {
                int32_t x = i - left_counts[q], y = j - right_counts[q];
                if (!inside(band, x, y)) continue;
                int64_t from = band->start[x] + y - band->low[x];
                if (scores[from * moves + q] > IMPOSSIBLE) terms[count++] = before[from] + scores[from * moves + q];
            }
            before[band->start[i] + j - band->low[i]] = log_sum(terms, count);
        }
    for (int32_t i = band->n; i >= 0; i--)
        for (int32_t j = band->high[i]; j >= band->low[i]; j--) {
            int64_t at = band->start[i] + j - band->low[i];
            int32_t count = 0;
            if (i == band->n && j == band->m) terms[count++] = 0;
            for (int32_t q = 0; q < moves; q++) {
                int32_t x = i + left_counts[q], y = j + right_counts[q];
                if (scores[at * moves + q] > IMPOSSIBLE && inside(band, x, y))
                    terms[count++] = after[band->start[x] + y - band->low[x]] + scores[at * moves + q];
            }
            after[at] = log_sum(terms, count);
        }
}

/* The path with the highest sum of bead probabilities, or with the highest score.  The probability of
   a bead is weighted by its number of sentences; otherwise two single sentences would count twice as
   much as a bead of both.  Writes the steps from last to first and returns their number. */
int64_t beads_path(
    int32_t n, int32_t m, const int32_t *low, const int32_t *high, const int64_t *start, int32_t moves,
    const int32_t *left_counts, const int32_t *right_counts, const float *scores, int32_t by_posterior, double *before,
    double *after, double *best, int8_t *chosen, int32_t *steps, double *confidence) {
    Band band = {n, m, low, high, start};
    if (moves > MOST_MOVES || !inside(&band, 0, 0) || !inside(&band, n, m)) return -1;
    if (by_posterior) sum_ways(&band, moves, left_counts, right_counts, scores, before, after);
    double all = by_posterior ? after[0] : 0;
    for (int32_t i = 0; i <= n; i++)
        for (int32_t j = low[i]; j <= high[i]; j++) {
            int64_t at = start[i] + j - low[i];
            double most = i || j ? -INFINITY : 0;
            chosen[at] = -1;
            for (int32_t q = 0; q < moves; q++) {
                int32_t x = i - left_counts[q], y = j - right_counts[q];
                if (!inside(&band, x, y)) continue;
                int64_t from = start[x] + y - low[x];
                double score = scores[from * moves + q];
                if (score <= IMPOSSIBLE) continue;
                if (by_posterior)
                    score = exp(before[from] + score + after[at] - all) * (left_counts[q] + right_counts[q]);
                if (best[from] + score > most) {
                    most = best[from] + score;
                    chosen[at] = (int8_t)q;
                }
            }
            best[at] = most;
        }
    int64_t count = 0;
    for (int32_t i = n, j = m; i || j; count++) {
        int64_t at = start[i] + j - low[i];
        int32_t q = chosen[at];
        if (q < 0) return -1;
        int32_t x = i - left_counts[q], y = j - right_counts[q];
        int64_t from = start[x] + y - low[x];
        double score = scores[from * moves + q];
        confidence[count] = by_posterior ? exp(before[from] + score + after[at] - all) : score;
        steps[4 * count] = x;
        steps[4 * count + 1] = y;
        steps[4 * count + 2] = left_counts[q];
        steps[4 * count + 3] = right_counts[q];
        i = x;
        j = y;
    }
    return count;
}
