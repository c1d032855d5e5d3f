/* Words and numbers that are at corresponding places on two pages; `stages/verify/shared/places.py` is the reference.

   Each side is the lines of a text in UTF-8 in lower case; a word is a run of digits, or of at least three letters of
   Latin, or of Greek and Cyrillic.  The input is untrusted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NONE, DIGITS, LATIN, GREEK };
enum { SHORTEST = 3 }; /* letters */

typedef struct {
    const uint8_t *text; /* first occurrence */
    int64_t size;
    int64_t line[2];     /* 1 + last line of each side that has the word */
    int64_t lines[2];    /* number of lines of each side that have it */
} Word;

typedef struct {
    Word *words;
    int32_t *slots;
    int64_t count, size, room; /* words, slots, and words there is room for */
} Table;

/* The kind of the next character, which is moved past. */
static int next_kind(const uint8_t **at, const uint8_t *end) {
    const uint8_t *c = *at;
    uint32_t point = *c++;
    if (point >= 0xc0) {
        int more = point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
        point = more == 1 ? point & 0x1f : 0xffff; /* only characters of two bytes matter */
        for (; more && c < end && (*c & 0xc0) == 0x80; more--) point = point << 6 | (*c++ & 0x3f);
    }
    *at = c;
    if (point >= '0' && point <= '9') return DIGITS;
    if ((point >= 'a' && point <= 'z') || (point >= 0xdf && point <= 0x24f && point != 0xf7)) return LATIN;
    return point >= 0x370 && point <= 0x52f ? GREEK : NONE;
}

static int grow(Table *table) {
    int64_t size = table->size ? 2 * table->size : 1024;
    Word *words = realloc(table->words, (size_t)size / 2 * sizeof *words);
    if (words) table->words = words;
    int32_t *slots = words ? calloc((size_t)size, sizeof *slots) : NULL;
    if (!slots) return 0;
    free(table->slots);
    table->slots = slots, table->size = size, table->room = size / 2;
    return 1;
}

static uint64_t sum_of(uint64_t seed, const uint8_t *text, int64_t size) {
    uint64_t sum = seed;
    for (int64_t k = 0; k < size; k++) sum = (sum ^ text[k]) * 0x100000001b3u;
    sum ^= sum >> 29;
    return sum * 0xff51afd7ed558ccdu >> 20;
}

static void place(Table *table, uint64_t seed, int64_t word) {
    int64_t slot = (int64_t)(sum_of(seed, table->words[word].text, table->words[word].size) & (uint64_t)(table->size - 1));
    while (table->slots[slot]) slot = (slot + 1) & (table->size - 1);
    table->slots[slot] = (int32_t)word + 1;
}

/* The number of a word, which is added if it is new; -1 if memory is exhausted. */
static int64_t find(Table *table, uint64_t seed, const uint8_t *text, int64_t size) {
    if (table->count == table->room) {
        if (!grow(table)) return -1;
        for (int64_t w = 0; w < table->count; w++) place(table, seed, w);
    }
    int64_t slot = (int64_t)(sum_of(seed, text, size) & (uint64_t)(table->size - 1));
    for (; table->slots[slot]; slot = (slot + 1) & (table->size - 1)) {
        const Word *word = table->words + table->slots[slot] - 1;
        if (word->size == size && !memcmp(word->text, text, (size_t)size)) return table->slots[slot] - 1;
    }
    table->words[table->count] = (Word){text, size, {0, 0}, {0, 0}};
    table->slots[slot] = (int32_t)++table->count;
    return table->count - 1;
}

/* Reads the next line of a side: each distinct word counts once.  On the right side, returns the number of words that
   the left line has too; -1 if memory is exhausted. */
static int64_t read_line(
    Table *table, uint64_t seed, const uint8_t **from, const uint8_t *end, int side, int64_t line) {
    const uint8_t *at = *from, *start = at;
    int64_t same = 0, letters = 0;
    int kind = NONE;
    for (;;) {
        const uint8_t *before = at;
        int is_over = at >= end || *at == '\n';
        int own = is_over ? NONE : next_kind(&at, end);
        if (own != kind) {
            if (kind == DIGITS || (kind && letters >= SHORTEST)) {
                int64_t number = find(table, seed, start, before - start);
                if (number < 0) return -1;
                Word *word = table->words + number;
                if (word->line[side] != line + 1) {
                    word->line[side] = line + 1;
                    word->lines[side]++;
                    if (side && word->line[0] == line + 1) same++;
                }
            }
            kind = own, start = before, letters = 0;
        }
        letters++;
        if (is_over) break;
    }
    *from = at < end ? at + 1 : at;
    return same;
}

/* Counts, over all lines, the distinct words of a line that are expected on both sides: result[0] on the left,
   result[1] on the right, and result[2] words that are on both sides of a line.  A word is expected if both sides have
   it anywhere, or if it is a number of several digits.  Returns 0 if memory is exhausted. */
int32_t same_words(
    const uint8_t *left, int64_t left_size, const uint8_t *right, int64_t right_size, int64_t lines, uint64_t seed,
    int64_t *result) {
    Table table = {NULL, NULL, 0, 0, 0};
    const uint8_t *at[2] = {left, right}, *ends[2] = {left + left_size, right + right_size};
    int is_done = 1;
    result[0] = result[1] = result[2] = 0;
    for (int64_t line = 0; line < lines && is_done; line++)
        for (int side = 0; side < 2 && is_done; side++) {
            int64_t same = read_line(&table, seed, &at[side], ends[side], side, line);
            is_done = same >= 0;
            result[2] += same;
        }
    for (int64_t w = 0; w < table.count; w++) {
        const Word *word = table.words + w;
        int is_number = *word->text <= '9' && word->size > 1;
        for (int side = 0; side < 2; side++)
            if (is_number || word->lines[1 - side]) result[side] += word->lines[side];
    }
    free(table.slots);
    free(table.words);
    return is_done;
}
