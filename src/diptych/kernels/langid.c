/* Language identification by naive Bayes over features that an automaton finds in the bytes of a text.

   The model is that of py3langid; `langid_reference.py` is the reference implementation.  A state has a
   row of 256 moves in blocks of 16, which states may share, and a feature that is found when the state is
   reached, or none (negative).  `langid.py` checks that all indices of the model are within bounds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int32_t row, feature; } State; /* feature is negative for none */
typedef struct {
    const State *moves;      /* blocks of 16 */
    const uint32_t *blocks;  /* rows of 16: the index of a block for each value of the upper four bits of a byte */
    const uint16_t *table;   /* features x labels: log probabilities as bits of half-precision floats */
    const float *priors;     /* labels */
    int64_t labels;
    int32_t start;           /* the initial row */
} Model;

#define TOGETHER 8 /* texts that are read together, so that the processor need not wait for each move */

/* Writes the feature that is found at each byte of some texts, or a negative number; text k has the bytes
   from[k] .. from[k + 1] - 1, and its features begin at found + k * width. */
static void find_features(
    const Model *model, const uint8_t *text, int64_t texts, const int64_t *from, int64_t width, int32_t *found) {
    int32_t rows[TOGETHER];
    int64_t longest = 0;
    for (int64_t k = 0; k < texts; k++) {
        rows[k] = model->start;
        longest = from[k + 1] - from[k] > longest ? from[k + 1] - from[k] : longest;
    }
    for (int64_t at = 0; at < longest; at++)
        for (int64_t k = 0; k < texts; k++) {
            if (at >= from[k + 1] - from[k]) continue;
            uint8_t byte = text[from[k] + at];
            State state = model->moves[(int64_t)model->blocks[(int64_t)rows[k] * 16 + (byte >> 4)] * 16 + (byte & 15)];
            rows[k] = state.row;
            found[k * width + at] = state.feature;
            if (state.feature < 0) continue;
            const uint16_t *soon = model->table + state.feature * model->labels;
            for (int64_t c = 0; c < model->labels; c += 32) __builtin_prefetch(soon + c);
        }
}

/* Replaces the features of a text by its distinct features in order of their first occurrence, and writes their
   counts; returns their number.

   slots: mask + 1 zeros, a power of two larger than the number of bytes. */
static int64_t count_features(int32_t *features, int64_t size, uint64_t mask, int32_t *slots, int32_t *counts) {
    int32_t found = 0;
    for (int64_t at = 0; at < size; at++) {
        int32_t feature = features[at];
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

/* Adds the log probabilities of a feature, multiplied by a weight.

   The bits of a half-precision number, shifted to the exponent of a float, are its value divided by
   2^112, because the exponent bias of floats is higher by 112; the weight compensates for this.  The
   conversion is exact. */
static void add(const uint16_t *restrict row, double weight, int64_t labels, double *restrict logs) {
    weight *= 0x1p112;
    for (int64_t c = 0; c < labels; c++) {
        uint32_t bits = (uint32_t)((int32_t)(int16_t)row[c] * 8192) & 0x8fffe000u;
        float value;
        memcpy(&value, &bits, sizeof value);
        logs[c] += weight * value;
    }
}

#define SMALL 16

/* Writes the probability of each label to `shares`: the log probabilities of a feature are weighted by
   the logarithm of its count, and less in longer texts.

   features: those found at each byte; they are overwritten.  room: zeros, `slots` of them, a power of two of
   at least twice the number of bytes.  counts: one per byte.  weights: those of small counts, which are the
   most frequent. */
static void find_shares(
    const Model *model, int64_t size, const double *weights, uint64_t slots, int32_t *room, int32_t *features,
    int32_t *counts, double *shares) {
    int64_t labels = model->labels, found = count_features(features, size, slots - 1, room, counts);
    for (int64_t c = 0; c < labels; c++) shares[c] = found ? model->priors[c] : 0;
    for (int64_t k = 0; k < found; k++) {
        double weight = counts[k] < SMALL ? weights[counts[k]] : log1p(counts[k]);
        add(model->table + features[k] * labels, weight, labels, shares);
    }
    double most = -INFINITY, sum = 0, scale = size ? 1 / sqrt((double)size) : 1;
    for (int64_t c = 0; c < labels; c++) most = shares[c] > most ? shares[c] : most;
    for (int64_t c = 0; c < labels; c++) sum += shares[c] = exp((shares[c] - most) * scale);
    for (int64_t c = 0; c < labels; c++) shares[c] /= sum;
}

/* Writes a row of shares for each of `count` texts; text k has the bytes from[k] .. from[k + 1] - 1.
   Returns 0 if memory is exhausted. */
int32_t langid_shares(const Model *model, const uint8_t *text, int64_t count, const int64_t *from, double *shares) {
    int64_t longest = 0;
    for (int64_t k = 0; k < count; k++) longest = from[k + 1] - from[k] > longest ? from[k + 1] - from[k] : longest;
    uint64_t most = 16;
    while (most < 2 * (uint64_t)longest) most *= 2;
    uint64_t lanes = count < TOGETHER ? (uint64_t)count : TOGETHER;
    int32_t *room = malloc((most + (lanes + 1) * (uint64_t)longest) * sizeof *room);
    if (!room) return 0;
    int32_t *counts = room + most, *features = counts + longest;
    double weights[SMALL];
    for (int k = 0; k < SMALL; k++) weights[k] = log1p(k);
    for (int64_t k = 0; k < count; k++) {
        int64_t size = from[k + 1] - from[k], lane = k % TOGETHER, rest = count - k;
        uint64_t slots = 16;
        while (slots < 2 * (uint64_t)size) slots *= 2;
        memset(room, 0, slots * sizeof *room);
        if (!lane) find_features(model, text, rest < TOGETHER ? rest : TOGETHER, from + k, longest, features);
        find_shares(model, size, weights, slots, room, features + lane * longest, counts, shares + k * model->labels);
    }
    free(room);
    return 1;
}
