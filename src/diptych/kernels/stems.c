/* Stems of the words in plain texts; `text/tokens.py` and `text/cognates.py` are the reference.

   Texts are lines of folded UTF-8.  A line with a character that is not plain has no result: its words depend
   on more than their characters.  Which characters are plain comes from a table.  The input is untrusted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN = 1, LETTER = 2, DIGIT = 4, JOINER = 8, COLON = 16, POINT = 32, BLANK = 64, SEPARATOR = 128 };

typedef struct {
    const uint8_t *classes; /* of the first characters of Unicode */
    int64_t size;           /* number of classes */
    int64_t letters, longest; /* characters of a stem, and of a word that begins with a digit */
} Rules;

/* The class of the next character, which is moved past; 0 if it is not in the table or not valid. */
static int next_class(const Rules *rules, const uint8_t **at, const uint8_t *end) {
    const uint8_t *c = *at;
    int64_t point = *c++;
    int more = point < 0x80 ? 0 : point < 0xc2 ? -1 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : -1;
    if (more < 0 || end - c < more) return 0;
    if (more) point &= 0x3f >> more;
    for (; more > 0; more--) {
        if ((*c & 0xc0) != 0x80) return 0;
        point = point << 6 | (*c++ & 0x3f);
    }
    *at = c;
    return point < rules->size ? rules->classes[point] : 0;
}

/* True if a character makes a text unclear: a colon between letters, or digits that may be one number with others. */
static int is_unclear(int own, int last, int before, int spaced) {
    if (own & LETTER && last & COLON && before & LETTER) return 1;
    return own & DIGIT && ((last & POINT && before & DIGIT) || spaced == 4);
}

/* The end of a number of several groups, of which the first digit was read; NULL if it is not a whole word. */
static const uint8_t *number_end(const Rules *rules, const uint8_t *at, const uint8_t *end) {
    const uint8_t *stop = 0; /* end of the last group */
    int groups = 1, last = DIGIT;
    while (at < end) {
        int own = next_class(rules, &at, end);
        if (!(own & PLAIN)) return 0;
        if (last & DIGIT) {
            if (own & LETTER) return 0;
            if (!(own & (DIGIT | POINT))) break;
        } else {
            if (!(own & DIGIT)) break;
            if (!(last & SEPARATOR)) return 0;
            groups++;
        }
        if (own & DIGIT) stop = at;
        last = own;
    }
    return groups > 1 ? stop : 0;
}

/* Writes the groups of a number and a blank, with points instead of separators, but none before three digits. */
static uint8_t *write_number(const Rules *rules, const uint8_t *at, const uint8_t *end, uint8_t *out) {
    int64_t room = rules->longest;
    for (int is_first = 1; at < end; is_first = 0) {
        const uint8_t *from = at;
        while (at < end && *at >= '0' && *at <= '9') at++;
        if (!is_first && at - from != 3 && room-- > 0) *out++ = '.';
        while (from < at && room-- > 0) *out++ = *from++;
        while (at < end && (*at < '0' || *at > '9')) at++;
    }
    *out++ = ' ';
    return out;
}

/* Writes the stems of a line, a blank after each; returns the end, or NULL if the line is not plain. */
static uint8_t *stem_line(const Rules *rules, const uint8_t *at, const uint8_t *end, uint8_t *out) {
    int before = 0, last = 0; /* classes of the two characters before */
    int spaced = 0;           /* characters at the end of what was read that begin `1 000` */
    int64_t taken = 0, room = 0; /* characters of the word, and of its stem */
    const uint8_t *joiner = 0;   /* one that may be inside the word */
    while (at < end) {
        const uint8_t *from = at;
        int own = next_class(rules, &at, end);
        if (!(own & PLAIN) || is_unclear(own, last, before, spaced)) return 0;
        if (joiner && own & LETTER) {
            if (taken++ < room)
                while (joiner < from) *out++ = *joiner++;
        } else if (joiner) {
            *out++ = ' ';
            taken = 0;
        }
        joiner = 0;
        const uint8_t *stop = own & DIGIT && !taken && spaced != 2 ? number_end(rules, at, end) : 0;
        if (stop) {
            out = write_number(rules, from, stop, out);
            at = stop;
            last = DIGIT; /* and no digit follows */
            continue;
        }
        if (own & (LETTER | DIGIT)) {
            if (!taken) room = own & DIGIT ? rules->longest : rules->letters;
            if (taken++ < room)
                while (from < at) *out++ = *from++;
        } else if (own & JOINER && last & LETTER) joiner = from;
        else if (taken) {
            *out++ = ' ';
            taken = 0;
        }
        spaced = own & DIGIT ? (spaced >= 2 ? spaced + 1 : 1) : own & BLANK && last & DIGIT ? 2 : 0;
        before = last;
        last = own;
    }
    if (taken) *out++ = ' ';
    return out;
}

/* Writes the stems of all lines, each line with a newline after it; a line that is not plain becomes a zero.
   There must be room for twice as many bytes as there are, and two.  Returns the number of bytes written. */
int64_t plain_stems(const Rules *rules, const uint8_t *text, int64_t count, uint8_t *out) {
    const uint8_t *at = text, *stop = text + count;
    uint8_t *to = out;
    for (;;) {
        const uint8_t *end = at;
        while (end < stop && *end != '\n') end++;
        uint8_t *written = stem_line(rules, at, end, to);
        if (written) to = written;
        else *to++ = 0;
        *to++ = '\n';
        if (end == stop) return to - out;
        at = end + 1;
    }
}

typedef struct { int32_t start, size; } Word; /* bytes of the first occurrence */

static uint64_t hash(uint64_t seed, const uint8_t *text, int64_t size) {
    uint64_t sum = seed ^ (uint64_t)size * 0x9e3779b97f4a7c15u;
    for (int64_t k = 0; k < size; k += 8) {
        uint64_t word = 0;
        memcpy(&word, text + k, (size_t)(size - k < 8 ? size - k : 8));
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    return (sum * 0xc4ceb9fe1a85ec53u) >> 16;
}

/* Numbers the distinct words of a text in the order in which they first occur, and counts them.

   The words of the text have a blank after each, and a newline is after each line.  distinct: as many bytes as there
   are, to which the distinct words are written, a blank after each.  result: room for the number of bytes of the
   distinct words, then, for each line, the number of words up to its end, then the number of each word, then the
   count of each distinct word; there are at most half as many words as bytes.  Returns the number of distinct words,
   or -1 if memory is exhausted. */
int64_t count_words(
    const uint8_t *text, int64_t size, int64_t lines, uint64_t seed, uint8_t *distinct, int32_t *result) {
    uint8_t *out = distinct;
    int32_t *ends = result + 1, *numbers = ends + lines, *counts = numbers + size / 2;
    Word *words = malloc((size_t)(size / 2 + 1) * sizeof *words);
    int64_t slots = 64, found = 0, read = 0, start = 0;
    while (slots < size) slots *= 2; /* words have two bytes or more, so at most half of the slots are taken */
    int32_t *table = calloc((size_t)slots, sizeof *table);
    for (int64_t at = 0; at < size && table && words; at++) {
        if (text[at] == '\n') {
            *ends++ = (int32_t)read;
            start = at + 1;
        }
        if (text[at] != ' ') continue;
        int64_t own = at - start;
        if (!own) {
            start++;
            continue;
        }
        int64_t slot = (int64_t)(hash(seed, text + start, own) & (uint64_t)(slots - 1));
        for (; table[slot]; slot = (slot + 1) & (slots - 1)) {
            Word known = words[table[slot] - 1];
            if (known.size == own && !memcmp(text + known.start, text + start, (size_t)own)) break;
        }
        if (!table[slot]) {
            words[found] = (Word){(int32_t)start, (int32_t)own};
            counts[found] = 0;
            memcpy(out, text + start, (size_t)own + 1); /* with the blank */
            out += own + 1;
            table[slot] = (int32_t)++found;
        }
        counts[table[slot] - 1]++;
        numbers[read++] = table[slot] - 1;
        start = at + 1;
    }
    int is_done = table && words;
    free(table);
    free(words);
    *result = (int32_t)(out - distinct);
    return is_done ? found : -1;
}

/* Words with a number each, which is kept from one call to the next. */
typedef struct {
    int32_t *slots; /* 1 + number of the word in each slot, or 0; at least twice as many as there are words */
    int64_t size;   /* number of slots, a power of two */
    uint8_t *text;  /* the words, a blank after each */
    int64_t *at;    /* start of each word in the text, and the end of the last */
    int64_t count;
    uint64_t seed;
} Numbers;

/* The slot of a word, which is empty if the word is new. */
static int64_t slot_of(const Numbers *words, const uint8_t *text, int64_t size) {
    int64_t slot = (int64_t)(hash(words->seed, text, size) & (uint64_t)(words->size - 1));
    for (; words->slots[slot]; slot = (slot + 1) & (words->size - 1)) {
        const int64_t *at = words->at + words->slots[slot] - 1;
        if (at[1] - at[0] == size + 1 && !memcmp(words->text + at[0], text, (size_t)size)) break;
    }
    return slot;
}

/* Enters all words into slots, which must be empty. */
void place_words(Numbers *words) {
    for (int64_t k = 0; k < words->count; k++) {
        const int64_t *at = words->at + k;
        words->slots[slot_of(words, words->text + at[0], at[1] - at[0] - 1)] = (int32_t)k + 1;
    }
}

/* Numbers the words of lines; a word that is new gets the next number.

   The words have a blank after each, and a newline is after each line.  There must be room for as many bytes more in
   the text of the words, for half as many words, and for twice as many slots as words.  numbers: room for half as
   many as there are bytes.  ends: for each line, the number of words up to its end.  */
void number_words(Numbers *words, const uint8_t *text, int64_t size, int32_t *numbers, int64_t *ends) {
    int64_t read = 0, start = 0;
    for (int64_t at = 0; at < size; at++) {
        if (text[at] == '\n') {
            *ends++ = read;
            start = at + 1;
        }
        if (text[at] != ' ') continue;
        int64_t own = at - start;
        if (own) {
            int64_t slot = slot_of(words, text + start, own);
            if (!words->slots[slot]) {
                int64_t from = words->at[words->count];
                memcpy(words->text + from, text + start, (size_t)own + 1); /* with the blank */
                words->at[++words->count] = from + own + 1;
                words->slots[slot] = (int32_t)words->count;
            }
            numbers[read++] = words->slots[slot] - 1;
        }
        start = at + 1;
    }
}
