/* The language of a text by naive Bayes over features that an automaton finds on its way over bytes.

   The model is that of py3langid; `langid_reference.py` is the readable form.  A state has a row of
   moves, 256 of them, which it may share with others, and a feature that is seen when it is reached, or
   none (below zero).  `langid.py` checks that nothing of the model leads out of its arrays. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Features in the order in which they are first seen, each with how often; answers with their number.

   slots: zeros, a power of two of them (mask + 1), more than there are bytes.
   features, counts: room for one per byte. */
static int64_t count_features(
    const uint8_t *text, int64_t size, const uint32_t *moves, const uint32_t *rows, const int32_t *output,
    uint64_t mask, int32_t *slots, int32_t *features, int32_t *counts) {
    uint32_t state = 0;
    int32_t found = 0;
    for (int64_t at = 0; at < size; at++) {
        state = moves[(int64_t)rows[state] * 256 + text[at]];
        int32_t feature = output[state];
        if (feature < 0) continue;
        uint64_t slot = ((uint32_t)feature * 2654435761u >> 7) & mask;
        while (slots[slot] && features[slots[slot] - 1] != feature) slot = (slot + 1) & mask;
        if (slots[slot]) counts[slots[slot] - 1]++;
        else {
            features[found] = feature;
            counts[found] = 1;
            slots[slot] = ++found;
        }
    }
    return found;
}

/* The probability of each label into `shares`: the logarithms of a feature's probabilities count by the
   logarithm of how often it is seen, and the longer the text, the less.  0 if there is no memory.

   table: a row of labels per feature. */
int32_t langid_shares(
    const uint8_t *text, int64_t size, const uint32_t *moves, const uint32_t *rows, const int32_t *output,
    const float *table, const float *priors, int64_t labels, double *shares) {
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)size) slots *= 2;
    int32_t *room = calloc(slots + 2 * (uint64_t)size, sizeof *room);
    if (!room) return 0;
    int32_t *features = room + slots, *counts = features + size;
    int64_t found = count_features(text, size, moves, rows, output, slots - 1, room, features, counts);
    for (int64_t c = 0; c < labels; c++) shares[c] = found ? priors[c] : 0;
    for (int64_t k = 0; k < found; k++) {
        const float *row = table + features[k] * labels;
        double weight = log1p(counts[k]);
        for (int64_t c = 0; c < labels; c++) shares[c] += weight * row[c];
    }
    free(room);
    double most = -INFINITY, sum = 0, scale = size ? 1 / sqrt((double)size) : 1;
    for (int64_t c = 0; c < labels; c++) most = shares[c] > most ? shares[c] : most;
    for (int64_t c = 0; c < labels; c++) sum += shares[c] = exp((shares[c] - most) * scale);
    for (int64_t c = 0; c < labels; c++) shares[c] /= sum;
    return 1;
}
