/* The nearest rows of two sparse matrices by dot product.
 * `nearest_reference.py` is the reference implementation; `nearest.py` checks the input. */
#include <stdint.h>

#define LEAST 1e-30f

/* A heap of the best rows so far, with the worst at its root.  Of equal rows the later one is worse. */
static int is_worse(float score, int32_t row, float other, int32_t other_row)
{
    return score < other || (score == other && row > other_row);
}

static void sink(float *scores, int32_t *rows, int32_t count, int32_t at)
{
    float score = scores[at];
    int32_t row = rows[at];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count &&
            is_worse(scores[child + 1], rows[child + 1], scores[child], rows[child]))
            child++;
        if (!is_worse(scores[child], rows[child], score, row))
            break;
        scores[at] = scores[child];
        rows[at] = rows[child];
        at = child;
    }
    scores[at] = score;
    rows[at] = row;
}

static void rise(float *scores, int32_t *rows, int32_t at)
{
    float score = scores[at];
    int32_t row = rows[at];
    while (at > 0) {
        int32_t parent = (at - 1) / 2;
        if (!is_worse(score, row, scores[parent], rows[parent]))
            break;
        scores[at] = scores[parent];
        rows[at] = rows[parent];
        at = parent;
    }
    scores[at] = score;
    rows[at] = row;
}

/* Heap sort: remove the worst repeatedly, so that the best is first. */
static void sort_heap(float *scores, int32_t *rows, int32_t count)
{
    for (int32_t last = count - 1; last > 0; last--) {
        float score = scores[0];
        int32_t row = rows[0];
        scores[0] = scores[last];
        rows[0] = rows[last];
        sink(scores, rows, last, 0);
        scores[last] = score;
        rows[last] = row;
    }
}

void diptych_nearest(int64_t queries, const int64_t *offsets, const int32_t *features,
                     const float *values, const int64_t *posting_offsets,
                     const int32_t *posting_rows, const float *posting_values, int32_t most,
                     int64_t budget, float *sums, int32_t *touched, int32_t *found_rows,
                     float *found_scores)
{
    for (int64_t query = 0; query < queries; query++) {
        int64_t count = 0, spent = 0;
        for (int64_t at = offsets[query]; at < offsets[query + 1]; at++) {
            int64_t begin = posting_offsets[features[at]], end = posting_offsets[features[at] + 1];
            spent += end - begin;
            if (spent > budget)
                break;
            for (int64_t place = begin; place < end; place++) {
                int32_t row = posting_rows[place];
                float product = values[at] * posting_values[place];
                if (sums[row] == 0.0f)
                    touched[count++] = row;
                /* never zero, otherwise a row would be listed twice */
                sums[row] += product > LEAST ? product : LEAST;
            }
        }
        int32_t *rows = found_rows + query * most;
        float *scores = found_scores + query * most;
        int32_t kept = 0;
        for (int64_t each = 0; each < count; each++) {
            int32_t row = touched[each];
            float score = sums[row];
            sums[row] = 0.0f;
            if (kept < most) {
                rows[kept] = row;
                scores[kept] = score;
                rise(scores, rows, kept++);
            } else if (is_worse(scores[0], rows[0], score, row)) {
                rows[0] = row;
                scores[0] = score;
                sink(scores, rows, most, 0);
            }
        }
        sort_heap(scores, rows, kept);
    }
}

void diptych_products(int64_t pairs, const int32_t *left, const int32_t *right,
                      const int64_t *left_offsets, const int32_t *left_features,
                      const float *left_values, const int64_t *right_offsets,
                      const int32_t *right_features, const float *right_values, float *found)
{
    for (int64_t pair = 0; pair < pairs; pair++) {
        int64_t one = left_offsets[left[pair]], one_end = left_offsets[left[pair] + 1];
        int64_t two = right_offsets[right[pair]], two_end = right_offsets[right[pair] + 1];
        float sum = 0.0f;
        while (one < one_end && two < two_end) {
            if (left_features[one] < right_features[two])
                one++;
            else if (left_features[one] > right_features[two])
                two++;
            else
                sum += left_values[one++] * right_values[two++];
        }
        found[pair] = sum;
    }
}
