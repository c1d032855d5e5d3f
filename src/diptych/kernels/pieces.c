/* Alignment of many short texts with their translations in one call.  Each piece is aligned by itself, as in
   `passes.py`, the reference implementation, but without Python arrays for each piece.

   The words of all pieces are of one vocabulary on each side, and what links them is given once.  A piece
   has a vocabulary of its own, because how often a word is there tells what a link is worth. */
#include "beads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t words;            /* size of the vocabulary */
    const int64_t *piece_from; /* the sentences of each piece */
    const int64_t *row_from;  /* the distinct words of each sentence, and their counts */
    const int32_t *word;
    const float *count;
    const double *length; /* length of each sentence */
} Side;

typedef struct {
    const int64_t *from; /* per left word: the linked right words, with probabilities both ways */
    const int32_t *right;
    const float *forward, *backward;
} Links;

typedef struct {
    int32_t moves, most; /* number of kinds of beads, and the most sentences on one side of one */
    const int32_t *left_counts, *right_counts;
    const double *priors;
    double variance, most_cost, unknown, nothing_known, least_lift, rare, base, letters, most_ratio;
} Setting;

/* A bump allocator over one block of memory; after the first failure all later requests fail too. */
typedef struct {
    char *base;
    size_t size, used;
} Arena;

static void *take(Arena *arena, size_t count, size_t size) {
    size_t bytes = (count * size + 15) / 16 * 16;
    if (bytes > arena->size - arena->used) {
        arena->used = arena->size;
        return NULL;
    }
    void *found = arena->base + arena->used;
    arena->used += bytes;
    return found;
}

/* A side of a piece: its sentences as bags of words of its own vocabulary, and the postings of each word. */
typedef struct {
    int32_t rows, words;
    int64_t places; /* number of distinct words per sentence, summed over all sentences */
    int64_t *row_from, *post_from;
    int32_t *word, *post_place;
    float *count, *post_count;
    double *total, *words_before, *lengths_before;
    int32_t *of; /* index of each word in the whole vocabulary */
} Part;

/* Allocates the arrays of a part; the numbers of rows and places are known in advance. */
static int take_part(Arena *arena, Part *part, int32_t rows, int64_t places) {
    size_t r = (size_t)rows + 1, p = (size_t)places + 1;
    part->rows = rows;
    part->places = places;
    part->row_from = take(arena, r, sizeof(int64_t));
    part->post_from = take(arena, p + 1, sizeof(int64_t));
    part->word = take(arena, p, sizeof(int32_t));
    part->post_place = take(arena, p, sizeof(int32_t));
    part->count = take(arena, p, sizeof(float));
    part->post_count = take(arena, p, sizeof(float));
    part->total = take(arena, p, sizeof(double));
    part->words_before = take(arena, r, sizeof(double));
    part->lengths_before = take(arena, r, sizeof(double));
    part->of = take(arena, p, sizeof(int32_t));
    return part->of != NULL; /* the last request: if it succeeded, all did */
}

static size_t part_size(int64_t rows, int64_t places) {
    size_t r = (size_t)rows + 1, p = (size_t)places + 1;
    return r * 24 + (p + 1) * 8 + p * 28 + 10 * 16;
}

/* Reads a side of a piece; `local` maps each word of the vocabulary to its index in the piece, or -1. */
static void read_part(Part *part, const Side *side, int64_t first, int32_t *local) {
    int64_t base = side->row_from[first];
    part->words = 0;
    part->words_before[0] = part->lengths_before[0] = 0;
    part->row_from[0] = 0;
    for (int32_t row = 0; row < part->rows; row++) {
        int64_t from = side->row_from[first + row] - base, to = side->row_from[first + row + 1] - base;
        double words = 0;
        for (int64_t k = from; k < to; k++) {
            int32_t word = side->word[base + k];
            if (local[word] < 0) {
                local[word] = part->words;
                part->of[part->words] = word;
                part->total[part->words++] = 0;
            }
            part->word[k] = local[word];
            part->count[k] = side->count[base + k];
            part->total[local[word]] += side->count[base + k];
            words += side->count[base + k];
        }
        part->row_from[row + 1] = to;
        part->words_before[row + 1] = part->words_before[row] + (words > 1 ? words : 1);
        part->lengths_before[row + 1] = part->lengths_before[row] + side->length[first + row];
    }
    memset(part->post_from, 0, ((size_t)part->words + 2) * sizeof(int64_t));
    for (int64_t k = 0; k < part->places; k++) part->post_from[part->word[k] + 2]++;
    for (int32_t word = 0; word < part->words; word++) part->post_from[word + 2] += part->post_from[word + 1];
    for (int32_t row = 0; row < part->rows; row++)
        for (int64_t k = part->row_from[row]; k < part->row_from[row + 1]; k++) {
            int64_t at = part->post_from[part->word[k] + 1]++;
            part->post_place[at] = row;
            part->post_count[at] = part->count[k];
        }
}

static void forget(const Part *part, int32_t *local) {
    for (int32_t word = 0; word < part->words; word++) local[part->of[word]] = -1;
}

/* The number of links between the words of the two sides of a piece. */
static int64_t count_links(const Part *left, const Links *links, const int32_t *right_local) {
    int64_t found = 0;
    for (int32_t word = 0; word < left->words; word++)
        for (int64_t k = links->from[left->of[word]]; k < links->from[left->of[word] + 1]; k++)
            found += right_local[links->right[k]] >= 0;
    return found;
}

/* For each word of a side, the words it is linked to, and the lift: how many times more often than by chance
   they occur together. */
typedef struct {
    int64_t *from;
    int32_t *word;
    float *lift;
} Lifts;

static int take_lifts(Arena *arena, Lifts *lifts, int32_t words, int64_t links) {
    lifts->from = take(arena, (size_t)words + 2, sizeof(int64_t));
    lifts->word = take(arena, (size_t)links + 1, sizeof(int32_t));
    lifts->lift = take(arena, (size_t)links + 1, sizeof(float));
    return lifts->lift != NULL;
}

static double frequency(const Part *part, int32_t word, double all, const Setting *set) {
    return (part->total[word] + set->rare) / (all + set->base);
}

static double all_words(const Part *part) {
    double all = 0;
    for (int32_t word = 0; word < part->words; word++) all += part->total[word];
    return all;
}

static void fill_lifts(
    const Part *left, const Part *right, const Links *links, const int32_t *right_local, const Setting *set,
    Lifts *ours, Lifts *theirs) {
    double all_left = all_words(left), all_right = all_words(right);
    int64_t at = 0;
    memset(theirs->from, 0, ((size_t)right->words + 2) * sizeof(int64_t));
    for (int fill = 0; fill < 2; fill++) { /* the first round counts the entries of the right words, the second writes them */
        for (int32_t word = 0; word < left->words; word++) {
            double often = frequency(left, word, all_left, set);
            if (fill) ours->from[word] = at;
            for (int64_t k = links->from[left->of[word]]; k < links->from[left->of[word] + 1]; k++) {
                int32_t other = right_local[links->right[k]];
                if (other < 0) continue;
                double lift = links->backward[k] / often;
                double back = links->forward[k] / frequency(right, other, all_right, set);
                if (fill && lift >= set->least_lift) {
                    ours->word[at] = other;
                    ours->lift[at++] = (float)lift;
                }
                if (back < set->least_lift) continue;
                if (!fill) theirs->from[other + 2]++;
                else {
                    int64_t place = theirs->from[other + 1]++;
                    theirs->word[place] = word;
                    theirs->lift[place] = (float)back;
                }
            }
        }
        if (!fill)
            for (int32_t word = 0; word < right->words; word++) theirs->from[word + 2] += theirs->from[word + 1];
    }
    ours->from[left->words] = at;
}

/* Windows of rows that are compared with all places: first place, end, and index of the first cell. */
typedef struct {
    int32_t *low, *high;
    int64_t *start;
} Spans;

static int take_spans(Arena *arena, Spans *spans, int32_t rows, int32_t high, int64_t width) {
    spans->low = take(arena, (size_t)rows + 1, sizeof(int32_t));
    spans->high = take(arena, (size_t)rows + 1, sizeof(int32_t));
    spans->start = take(arena, (size_t)rows + 1, sizeof(int64_t));
    if (!spans->start) return 0;
    for (int32_t row = 0; row <= rows; row++) {
        spans->low[row] = 0;
        spans->high[row] = high;
        spans->start[row] = row * width;
    }
    return 1;
}

static float *gains(
    Arena *arena, const Part *rows, const Part *places, const Lifts *lifts, const Spans *spans, double share,
    const Setting *set) {
    int64_t cells = (int64_t)rows->rows * places->rows;
    size_t size = (size_t)places->rows + 1;
    float *out = take(arena, (size_t)(cells * set->most) + 1, sizeof(float));
    float *room = take(arena, size, sizeof(float));
    double *none = take(arena, size, sizeof(double)), *products;
    products = take(arena, 2 * size * (size_t)set->most, sizeof(double));
    if (!products) return NULL;
    memset(out, 0, (size_t)(cells * set->most) * sizeof(float));
    memset(room, 0, size * sizeof(float));
    memset(none, 0, size * sizeof(double));
    beads_gains(
        rows->rows, rows->row_from, rows->word, rows->count, lifts->from, lifts->word, lifts->lift, places->post_from,
        places->post_place, places->post_count, spans->low, spans->high, spans->start, cells, places->words_before,
        none, set->most, share, room, products, out);
    return out;
}

static void scale(Part *left, Part *right, const Setting *set) {
    double ratio = (right->lengths_before[right->rows] + set->letters) / (left->lengths_before[left->rows] + set->letters);
    ratio = ratio < 1 / set->most_ratio ? 1 / set->most_ratio : ratio > set->most_ratio ? set->most_ratio : ratio;
    /* Scale each side by half of the ratio, so that left and right are interchangeable. */
    double part = sqrt(ratio);
    for (int32_t row = 0; row <= left->rows; row++) left->lengths_before[row] *= part;
    for (int32_t row = 0; row <= right->rows; row++) right->lengths_before[row] /= part;
}

/* The best path through a piece: writes its steps from last to first and returns their number. */
static int64_t align_piece(
    Arena *arena, Part *left, Part *right, const Lifts *ours, const Lifts *theirs, int is_known, const Setting *set,
    int32_t *steps, double *confidence) {
    int32_t n = left->rows, m = right->rows;
    size_t points = ((size_t)n + 1) * ((size_t)m + 1);
    double share = is_known ? set->unknown : set->nothing_known;
    Spans band, rows, columns;
    if (!take_spans(arena, &band, n, m, (int64_t)m + 1) || !take_spans(arena, &rows, n, m, m) ||
        !take_spans(arena, &columns, m, n, n))
        return -1;
    float *by_left = gains(arena, left, right, ours, &rows, share, set);
    float *by_right = gains(arena, right, left, theirs, &columns, share, set);
    float *scores = take(arena, points * (size_t)set->moves, sizeof(float));
    double *before = take(arena, points, sizeof(double)), *after = take(arena, points, sizeof(double));
    double *best = take(arena, points, sizeof(double));
    int8_t *chosen = take(arena, points, sizeof(int8_t));
    if (!by_left || !by_right || !chosen) return -1;
    scale(left, right, set);
    memset(scores, 0, points * (size_t)set->moves * sizeof(float));
    beads_scores(
        n, m, band.low, band.high, band.start, set->moves, set->left_counts, set->right_counts, set->priors,
        left->lengths_before, right->lengths_before, set->variance, set->most_cost, by_right, columns.low, columns.high,
        columns.start, (int64_t)n * m, by_left, rows.low, rows.high, rows.start, (int64_t)n * m, scores);
    return beads_path(
        n, m, band.low, band.high, band.start, set->moves, set->left_counts, set->right_counts, scores, 1, before, after,
        best, chosen, steps, confidence);
}

static size_t piece_size(int64_t n, int64_t m, const Setting *set) {
    size_t points = ((size_t)n + 1) * ((size_t)m + 1), both = (size_t)(n + m + 2), most = (size_t)set->most;
    size_t spans = (both + (size_t)n + 1) * 16 + 9 * 16;
    size_t words = 2 * (points * most * 4) + both * (12 + 16 * most) + 8 * 16;
    return spans + words + points * ((size_t)set->moves * 4 + 25) + 5 * 16;
}

/* Ensures the size of an arena; discards its content. */
static int make_room(Arena *arena, size_t size) {
    arena->used = 0;
    if (size <= arena->size) return 1;
    free(arena->base);
    arena->base = malloc(size);
    arena->size = arena->base ? size : 0;
    return arena->base != NULL;
}

static void turn(int32_t *steps, double *confidence, int64_t count) {
    for (int64_t i = 0, j = count - 1; i < j; i++, j--) {
        int32_t step[4];
        memcpy(step, steps + 4 * i, sizeof step);
        memcpy(steps + 4 * i, steps + 4 * j, sizeof step);
        memcpy(steps + 4 * j, step, sizeof step);
        double sure = confidence[i];
        confidence[i] = confidence[j];
        confidence[j] = sure;
    }
}

static int64_t one_piece(
    int64_t piece, const Side *left, const Side *right, const Links *links, const Setting *set, Arena *parts,
    Arena *tables, int32_t *left_local, int32_t *right_local, int32_t *steps, double *confidence) {
    int64_t first = left->piece_from[piece], other = right->piece_from[piece];
    int32_t n = (int32_t)(left->piece_from[piece + 1] - first), m = (int32_t)(right->piece_from[piece + 1] - other);
    int64_t ours = left->row_from[first + n] - left->row_from[first];
    int64_t theirs = right->row_from[other + m] - right->row_from[other];
    Part one, two;
    Lifts lifts, back;
    if (!make_room(parts, part_size(n, ours) + part_size(m, theirs)) || !take_part(parts, &one, n, ours) ||
        !take_part(parts, &two, m, theirs))
        return -1;
    read_part(&one, left, first, left_local);
    read_part(&two, right, other, right_local);
    int64_t known = count_links(&one, links, right_local), found = -1;
    size_t size = ((size_t)one.words + (size_t)two.words + 4) * 8 + ((size_t)known + 1) * 16 + 6 * 16;
    if (make_room(tables, size + piece_size(n, m, set)) && take_lifts(tables, &lifts, one.words, known) &&
        take_lifts(tables, &back, two.words, known)) {
        fill_lifts(&one, &two, links, right_local, set, &lifts, &back);
        found = align_piece(tables, &one, &two, &lifts, &back, known > 0, set, steps, confidence);
    }
    forget(&one, left_local);
    forget(&two, right_local);
    return found;
}

/* The best path through each piece: writes the steps (4 numbers each, relative to the piece), their confidences
   and the number of steps of each piece.  Returns 0 if memory is exhausted or there is no path.

   steps, confidence: space for as many steps as there are sentences on both sides. */
int32_t pieces_align(
    int64_t pieces, const Side *left, const Side *right, const Links *links, const Setting *set, int32_t *steps,
    double *confidence, int64_t *counts) {
    Arena parts = {0}, tables = {0};
    int32_t *left_local = malloc(((size_t)left->words + 1) * sizeof *left_local);
    int32_t *right_local = malloc(((size_t)right->words + 1) * sizeof *right_local);
    int is_whole = left_local && right_local;
    for (int64_t word = 0; is_whole && word < left->words; word++) left_local[word] = -1;
    for (int64_t word = 0; is_whole && word < right->words; word++) right_local[word] = -1;
    for (int64_t piece = 0; is_whole && piece < pieces; piece++) {
        int64_t found = one_piece(
            piece, left, right, links, set, &parts, &tables, left_local, right_local, steps, confidence);
        is_whole = found >= 0;
        if (!is_whole) break;
        turn(steps, confidence, found);
        counts[piece] = found;
        steps += 4 * found;
        confidence += found;
    }
    free(parts.base);
    free(tables.base);
    free(left_local);
    free(right_local);
    return is_whole;
}
