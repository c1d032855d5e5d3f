/* IBM Model 1 by EM over the word pairs that occur together (Brown et al. 1993).
 * `ibm1_reference.py` is the reference implementation; `ibm1.py` checks the input.
 *
 * A row holds t(column | row).  Rows are processed one by one, over the sentences that contain their
 * word, with one dense array for the columns; so no list of word links is stored, and the working set
 * fits into the cache.  Besides the rows, only two numbers per word of a sentence are stored: z, the
 * sum of t over the words of the other side, and a weight. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SMOOTH 1.0  /* initial count of a row, spread evenly over all columns */
#define BUCKETS 128 /* shares are grouped by powers of two; entries in the first bucket are always kept */

#define LEAST 1e-38 /* smaller floats lose precision */
#define AHEAD 6     /* number of sentences to prefetch, since they are scattered in memory */

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

typedef struct {
    float sum;
    union {
        float value;
        int32_t is_listed;
    } as;
} Cell;

typedef struct {
    int32_t column;
    float weight; /* its count in the sentence, divided by its z or by the length of the other side */
} Place;

typedef struct {
    int64_t rows, columns;
    int64_t is_pruned;        /* 1 if some word pairs have no entry */
    const int64_t *post_from; /* per row: the sentences that contain its word, and the counts */
    const int32_t *post_bag;
    const float *post_count;
    const int64_t *bag_from; /* per sentence: its distinct columns */
    Place *places;
    float *z; /* per place */
    const int64_t *prior_from; /* per row: counts known before training, and their sum */
    const int32_t *prior_column;
    const float *prior_count;
    const double *prior_total;
    int64_t *row_from; /* the table: the columns of the prior first, then the others in order of occurrence */
    double *total;
    Cell *cells; /* per column, all zero between rows */
    int32_t *list; /* space for one row plus one entry */
    int32_t *column;
    float *value;
} Model;

/* Prefetch the first cache lines of a sentence that is needed soon, possibly for the next row. */
static void ask(const Model *m, int64_t post) {
    if (post + AHEAD >= m->post_from[m->rows]) return;
    const char *first = (const char *)(m->places + m->bag_from[m->post_bag[post + AHEAD]]);
    PREFETCH(first);
    PREFETCH(first + 64);
    PREFETCH(first + 128);
}

/* Writes the columns of a row to `list` and their sums of weights to the cells. */
static int64_t gather(Model *m, int64_t row) {
    Cell *cells = m->cells;
    int64_t count = 0, posts = m->post_from[row + 1];
    for (int64_t k = m->prior_from[row]; k < m->prior_from[row + 1]; k++) {
        m->list[count++] = m->prior_column[k];
        cells[m->prior_column[k]].as.is_listed = 1;
    }
    for (int64_t p = m->post_from[row]; p < posts; p++) {
        const Place *place = m->places + m->bag_from[m->post_bag[p]];
        const Place *end = m->places + m->bag_from[m->post_bag[p] + 1];
        ask(m, p);
        float times = m->post_count[p];
        for (; place < end; place++) {
            Cell *cell = cells + place->column;
            m->list[count] = place->column; /* without a branch, because new columns are unpredictable */
            count += !cell->as.is_listed;
            cell->as.is_listed = 1;
            cell->sum += times * place->weight;
        }
    }
    return count;
}

/* The bucket of a share: its power of two, counted down from 2^0. */
static int bucket(float part, double whole) {
    float share = whole > 0 ? (float)(part / whole) : 0;
    uint32_t bits;
    memcpy(&bits, &share, sizeof bits);
    int power = 127 - (int)(bits >> 23 & 255); /* 0 for shares of at least 1, 1 for at least 1/2, ... */
    return power < 1 ? 1 : power >= BUCKETS ? BUCKETS - 1 : power;
}

static double sum_of(const Model *m, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += m->cells[m->list[i]].sum;
    return sum;
}

/* The bucket of an entry; 0 for entries of the prior and of the last row (the empty word), which are always kept. */
static int bucket_at(const Model *m, int64_t row, int64_t place, double whole) {
    int64_t known = m->prior_from[row + 1] - m->prior_from[row];
    if (place < known || row == m->rows - 1) return 0;
    return bucket(m->cells[m->list[place]].sum, whole);
}

static void empty(Model *m, int64_t count) {
    for (int64_t i = 0; i < count; i++) memset(m->cells + m->list[i], 0, sizeof(Cell));
}

/* Counts word pairs by the bucket of their initial share of the row. */
void ibm1_survey(Model *m, int64_t *histogram) {
    for (int64_t row = 0; row < m->rows; row++) {
        int64_t count = gather(m, row);
        double whole = sum_of(m, count);
        for (int64_t i = 0; i < count; i++) histogram[bucket_at(m, row, i, whole)]++;
        empty(m, count);
    }
}

/* Adds a row to the z of all sentences that contain its word. */
static void spread(Model *m, int64_t row) {
    Cell *cells = m->cells;
    int64_t from = m->row_from[row], to = m->row_from[row + 1], posts = m->post_from[row + 1];
    for (int64_t k = from; k < to; k++) cells[m->column[k]].as.value = m->value[k];
    for (int64_t p = m->post_from[row]; p < posts; p++) {
        const Place *place = m->places + m->bag_from[m->post_bag[p]];
        const Place *end = m->places + m->bag_from[m->post_bag[p] + 1];
        float times = m->post_count[p], *z = m->z + m->bag_from[m->post_bag[p]];
        ask(m, p);
        for (; place < end; place++) *z++ += times * cells[place->column].as.value;
    }
    for (int64_t k = from; k < to; k++) cells[m->column[k]].as.value = 0;
}

/* Writes the columns of all rows, up to a bucket, and the values after a first iteration from a
 * uniform table; returns 0 if the space is too small. */
int ibm1_fill(Model *m, int last, int64_t room) {
    int64_t at = 0;
    m->row_from[0] = 0;
    for (int64_t row = 0; row < m->rows; row++) {
        int64_t count = gather(m, row);
        double whole = sum_of(m, count);
        float scale = whole > 0 ? (float)(1 / whole) : 0;
        for (int64_t i = 0; i < count; i++) {
            int is_kept = last >= BUCKETS || bucket_at(m, row, i, whole) <= last;
            if (is_kept && at >= room) return 0;
            if (is_kept) {
                m->value[at] = m->cells[m->list[i]].sum * scale;
                m->column[at++] = m->list[i];
            }
        }
        empty(m, count);
        m->row_from[row + 1] = at;
        m->total[row] = whole;
        spread(m, row);
    }
    return 1;
}

/* Initialises the table: uniform apart from the prior; z must be zero. */
void ibm1_start(Model *m) {
    for (int64_t row = 0; row < m->rows; row++) {
        int64_t from = m->row_from[row], known = m->prior_from[row];
        int64_t known_to = m->prior_from[row + 1];
        double whole = m->prior_total[row] + SMOOTH;
        for (int64_t k = from; k < m->row_from[row + 1]; k++, known++) {
            double count = SMOOTH / (double)m->columns;
            if (known < known_to) count += m->prior_count[known];
            m->value[k] = (float)(count / whole);
        }
        m->total[row] = m->prior_total[row];
        spread(m, row);
    }
}

/* Sets the sums to zero, also for rows without entries. */
static void clear(Model *m, int64_t row) {
    for (int64_t p = m->post_from[row]; p < m->post_from[row + 1]; p++) {
        int64_t bag = m->post_bag[p];
        for (int64_t j = m->bag_from[bag]; j < m->bag_from[bag + 1]; j++)
            m->cells[m->places[j].column].sum = 0;
    }
}

/* Computes the weights from z and clears z; returns the log-likelihood without the term for sentence lengths. */
double ibm1_weigh(Place *places, float *z, int64_t count, const float *times) {
    double likelihood = 0;
    for (int64_t i = 0; i < count; i++) {
        places[i].weight = z[i] > 0 ? times[i] / z[i] : 0;
        likelihood += times[i] * log(z[i] > LEAST ? z[i] : LEAST);
        z[i] = 0;
    }
    return likelihood;
}

/* One iteration; z must be zero before, and belongs to the new table afterwards. */
void ibm1_step(Model *m) {
    Cell *cells = m->cells;
    for (int64_t row = 0; row < m->rows; row++) {
        int64_t posts = m->post_from[row + 1];
        for (int64_t p = m->post_from[row]; p < posts; p++) {
            const Place *place = m->places + m->bag_from[m->post_bag[p]];
            const Place *end = m->places + m->bag_from[m->post_bag[p] + 1];
            float times = m->post_count[p];
            ask(m, p);
            for (; place < end; place++) cells[place->column].sum += times * place->weight;
        }
        int64_t from = m->row_from[row], to = m->row_from[row + 1], known = m->prior_from[row];
        int64_t known_to = m->prior_from[row + 1];
        double whole = m->prior_total[row];
        for (int64_t k = from; k < to; k++, known++) {
            Cell *cell = cells + m->column[k];
            float count = m->value[k] * cell->sum;
            cell->sum = 0;
            whole += count;
            m->value[k] = known < known_to ? count + m->prior_count[known] : count;
        }
        float scale = whole > 0 ? (float)(1 / whole) : 0;
        for (int64_t k = from; k < to; k++) m->value[k] *= scale;
        m->total[row] = whole;
        if (m->is_pruned) clear(m, row);
        spread(m, row);
    }
}

typedef struct {
    float value;
    int32_t column;
} Entry;

static int by_column(const void *left, const void *right) {
    int32_t one = ((const Entry *)left)->column, other = ((const Entry *)right)->column;
    return (one > other) - (one < other);
}

static int by_value(const void *left, const void *right) {
    float one = ((const Entry *)left)->value, other = ((const Entry *)right)->value;
    return one != other ? (one < other) - (one > other) : by_column(left, right);
}

/* Keeps, in place, the `most` largest entries of each row that are large enough, by column.
 * room: space for the entries of the longest row. */
void ibm1_prune(int64_t rows, int64_t *row_from, int32_t *column, float *value, float least,
                int64_t most, Entry *room) {
    int64_t at = 0, from = 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t to = row_from[row + 1], count = 0;
        int in_order = 1;
        for (int64_t k = from; k < to; k++) {
            if (!(value[k] >= least)) continue;
            if (count && room[count - 1].column > column[k]) in_order = 0;
            room[count++] = (Entry){value[k], column[k]};
        }
        if (count > most) {
            qsort(room, (size_t)count, sizeof *room, by_value);
            count = most;
            in_order = 0;
        }
        if (!in_order) qsort(room, (size_t)count, sizeof *room, by_column);
        for (int64_t i = 0; i < count; i++, at++) {
            column[at] = room[i].column;
            value[at] = room[i].value;
        }
        from = to;
        row_from[row + 1] = at;
    }
}
