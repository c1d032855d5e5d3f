/* Links between the words of two vocabularies: by a lexicon in both directions, and by similar spelling.

   `learn/lexicon/word_links.py` is the reference implementation; `kernels/word_links.py` checks the input. */
#include "word_links.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 1000 /* words of one slot to visit: only an attack puts more into a slot */

/* The links of one left word: the right words, and the probabilities for each. */
typedef struct {
    int32_t *list, count;
    uint8_t *is_listed;
    float *forward, *backward;
} Row;

static void note(Row *row, int32_t other, float forward, float backward) {
    if (!row->is_listed[other]) {
        row->is_listed[other] = 1;
        row->list[row->count++] = other;
        row->forward[other] = row->backward[other] = 0;
    }
    if (forward > row->forward[other]) row->forward[other] = forward;
    if (backward > row->backward[other]) row->backward[other] = backward;
}

static int ascending(const void *a, const void *b) {
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one > other) - (one < other);
}

#define FEW 24 /* numbers that are sorted by insertion */

static void sort_words(int32_t *words, int32_t count) {
    if (count > FEW) {
        qsort(words, (size_t)count, sizeof *words, ascending);
        return;
    }
    for (int32_t k = 1; k < count; k++) {
        int32_t word = words[k], at = k;
        for (; at && words[at - 1] > word; at--) words[at] = words[at - 1];
        words[at] = word;
    }
}

static int write_row(Row *row, int32_t word, Found *found) {
    if (found->count + row->count > found->room) return 0;
    sort_words(row->list, row->count);
    for (int32_t k = 0; k < row->count; k++, found->count++) {
        int32_t other = row->list[k];
        found->left[found->count] = word;
        found->right[found->count] = other;
        found->forward[found->count] = row->forward[other];
        found->backward[found->count] = row->backward[other];
        row->is_listed[other] = 0;
    }
    row->count = 0;
    return 1;
}

/* Chains of right words, in order, that have the same spelling or the same prefix. */
typedef struct {
    uint32_t mask;
    int32_t *first, *last, *next;
} Chains;

static uint32_t hash(const uint8_t *text, int64_t size) {
    uint32_t value = 2166136261u;
    for (int64_t k = 0; k < size; k++) value = (value ^ text[k]) * 16777619u;
    return value ^ value >> 15;
}

static void add(Chains *chains, const uint8_t *text, int64_t size, int32_t word) {
    uint32_t slot = hash(text, size) & chains->mask;
    chains->next[word] = -1;
    if (chains->first[slot] < 0) chains->first[slot] = word;
    else chains->next[chains->last[slot]] = word;
    chains->last[slot] = word;
}

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static void look_for_same(const Words *right, const Looks *looks, const Chains *chains, const uint8_t *text, int64_t size, Row *row) {
    int64_t seen = 0;
    int32_t word = chains->first[hash(text, size) & chains->mask];
    for (int steps = 0; word >= 0 && seen < looks->most && steps < LONGEST; word = chains->next[word], steps++) {
        int64_t length = right->at[word + 1] - right->at[word];
        if (length != size || memcmp(right->text + right->at[word], text, (size_t)size)) continue;
        seen++;
        note(row, word, (float)looks->same, (float)looks->same);
    }
}

static void look_for_alike(const Words *right, const Looks *looks, const Chains *chains, const uint8_t *text, int64_t size, Row *row) {
    int64_t seen = 0;
    int32_t word = chains->first[hash(text, looks->least) & chains->mask];
    for (int steps = 0; word >= 0 && seen < looks->most && steps < LONGEST; word = chains->next[word], steps++) {
        const uint8_t *other = right->text + right->at[word];
        int64_t length = right->at[word + 1] - right->at[word], shared = 0;
        while (shared < size && shared < length && text[shared] == other[shared]) shared++;
        if (shared < looks->least) continue; /* another word in the same slot */
        seen++;
        double likeness = 2.0 * (double)shared / (double)(size + length);
        if (likeness < looks->least_likeness || (shared == size && shared == length)) continue;
        note(row, word, (float)(looks->alike * likeness), (float)(looks->alike * likeness));
    }
}

static int32_t place_of(const int32_t *place, int64_t rows, int32_t row) {
    return row >= 0 && row < rows ? place[row] : 0; /* checked here, because checking the whole lexicon on each call would take too long */
}

/* The lexicon's entries of the right words, grouped by left word: offsets, right words, probabilities. */
static int turn(const Words *left, const Words *right, int64_t *from, int32_t **which, float **value) {
    int32_t *place = calloc((size_t)left->rows + 1, sizeof *place);
    if (!place) return 0;
    for (int64_t word = 0; word < left->words; word++)
        if (left->row[word] >= 0) place[left->row[word]] = (int32_t)word + 1;
    for (int fill = 0; fill < 2; fill++) {
        for (int64_t word = 0; word < right->words; word++) {
            if (right->row[word] < 0) continue;
            for (int64_t k = right->from[right->row[word]]; k < right->from[right->row[word] + 1]; k++) {
                int32_t own = place_of(place, left->rows, right->column[k]);
                if (!own) continue;
                if (!fill) from[own + 1]++;
                else {
                    int64_t at = from[own]++;
                    (*which)[at] = (int32_t)word;
                    (*value)[at] = right->value[k];
                }
            }
        }
        if (fill) break;
        for (int64_t word = 0; word < left->words; word++) from[word + 2] += from[word + 1];
        *which = malloc(((size_t)from[left->words + 1] + 1) * sizeof **which);
        *value = malloc(((size_t)from[left->words + 1] + 1) * sizeof **value);
        if (!*which || !*value) break;
    }
    free(place);
    return *which && *value;
}

static int fill_rows(
    const Words *left, const Words *right, const Looks *looks, const int32_t *place, const int64_t *from,
    const int32_t *which, const float *value, const Chains *same, const Chains *alike, Row *row, Found *found) {
    for (int64_t word = 0; word < left->words; word++) {
        for (int64_t k = from[word]; k < from[word + 1]; k++) note(row, which[k], 0, value[k]);
        if (left->row[word] >= 0)
            for (int64_t k = left->from[left->row[word]]; k < left->from[left->row[word] + 1]; k++) {
                int32_t other = place_of(place, right->rows, left->column[k]);
                if (other) note(row, other - 1, left->value[k], 0);
            }
        const uint8_t *text = left->text + left->at[word];
        int64_t size = left->at[word + 1] - left->at[word];
        if (size) look_for_same(right, looks, same, text, size, row);
        if (size >= looks->least && !is_digit(text[0])) look_for_alike(right, looks, alike, text, size, row);
        if (!write_row(row, (int32_t)word, found)) return 0;
    }
    return 1;
}

static void chain_up(const Words *right, const Looks *looks, Chains *same, Chains *alike) {
    for (uint32_t slot = 0; slot <= same->mask; slot++) same->first[slot] = alike->first[slot] = -1;
    for (int64_t word = 0; word < right->words; word++) {
        const uint8_t *text = right->text + right->at[word];
        int64_t size = right->at[word + 1] - right->at[word];
        if (size) add(same, text, size, (int32_t)word);
        if (size >= looks->least && !is_digit(text[0])) add(alike, text, looks->least, (int32_t)word);
    }
}

/* Writes all links, ordered by left word, then by right word; returns 0 if space or memory is exhausted. */
int32_t links_find(const Words *left, const Words *right, const Looks *looks, Found *found) {
    uint32_t slots = 16;
    while (slots < 2 * (uint64_t)right->words && slots < 1u << 30) slots *= 2;
    size_t size = (size_t)right->words + 1;
    int32_t *place = calloc((size_t)right->rows + 1, sizeof *place), *chains = malloc(4 * (size_t)slots * sizeof *chains);
    int32_t *rest = malloc(3 * size * sizeof *rest), *which = NULL;
    int64_t *from = calloc((size_t)left->words + 3, sizeof *from);
    float *sums = malloc(2 * size * sizeof *sums), *value = NULL;
    uint8_t *is_listed = calloc(size, 1);
    int is_whole = place && chains && rest && from && sums && is_listed;
    if (is_whole) {
        Chains same = {slots - 1, chains, chains + slots, rest};
        Chains alike = {slots - 1, chains + 2 * (size_t)slots, chains + 3 * (size_t)slots, rest + size};
        Row row = {rest + 2 * size, 0, is_listed, sums, sums + size};
        for (int64_t word = 0; word < right->words; word++)
            if (right->row[word] >= 0) place[right->row[word]] = (int32_t)word + 1;
        chain_up(right, looks, &same, &alike);
        found->count = 0;
        is_whole = turn(left, right, from, &which, &value) &&
                   fill_rows(left, right, looks, place, from, which, value, &same, &alike, &row, found);
    }
    free(place), free(chains), free(rest), free(from), free(sums), free(is_listed), free(which), free(value);
    return is_whole;
}
