/* Functions of `beads.c` that `pieces.c` calls; they are explained there. */
#include <stdint.h>

void beads_gains(
    int64_t rows, const int64_t *row_from, const int32_t *row_word, const float *row_count, const int64_t *link_from,
    const int32_t *link_word, const float *link_lift, const int64_t *post_from, const int32_t *post_place,
    const float *post_count, const int32_t *low, const int32_t *high, const int64_t *start, int64_t cells,
    const double *words_before, const double *loose_before, int32_t sizes, double null_share, float *room,
    double *products, float *out);

void beads_scores(
    int32_t n, int32_t m, const int32_t *low, const int32_t *high, const int64_t *start, int32_t moves,
    const int32_t *left_counts, const int32_t *right_counts, const double *priors, const double *left_lengths,
    const double *right_lengths, double variance, double most_cost, const float *by_right,
    const int32_t *right_low, const int32_t *right_high, const int64_t *right_start, int64_t right_cells,
    const float *by_left, const int32_t *left_low, const int32_t *left_high, const int64_t *left_start,
    int64_t left_cells, float *scores);

int64_t beads_path(
    int32_t n, int32_t m, const int32_t *low, const int32_t *high, const int64_t *start, int32_t moves,
    const int32_t *left_counts, const int32_t *right_counts, const float *scores, int32_t by_posterior, double *before,
    double *after, double *best, int8_t *chosen, int32_t *steps, double *confidence);
