/* Texts without punctuation and numbers; `text/near_duplicates.py` is the reference.

   Texts are lines of UTF-8 in NFKC, without case.  The input is untrusted. */
#include <stdint.h>

enum { BEYOND = 0x110000, DROPPED, WORD = 1 << 24 }; /* entries of the table; a word has letters and digits */

/* The next character, which is moved past; `BEYOND` if it is not valid or has three bytes or more. */
static uint32_t next_entry(const uint32_t *table, int64_t known, const uint8_t **at, const uint8_t *end) {
    const uint8_t *c = *at;
    uint32_t point = *c++;
    int more = point < 0x80 ? 0 : point < 0xc2 ? -1 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : -1;
    if (more > 0) point &= 0x3fu >> more;
    for (; more > 0 && c < end && (*c & 0xc0) == 0x80; more--) point = point << 6 | (*c++ & 0x3f);
    *at = c;
    return more || point >= known ? BEYOND : table[point];
}

static uint8_t *put(uint32_t point, uint8_t *out) {
    if (point < 0x80) *out++ = (uint8_t)point;
    else if (point < 0x800) *out++ = (uint8_t)(0xc0 | point >> 6), *out++ = (uint8_t)(0x80 | (point & 0x3f));
    else {
        *out++ = (uint8_t)(0xe0 | point >> 12), *out++ = (uint8_t)(0x80 | (point >> 6 & 0x3f));
        *out++ = (uint8_t)(0x80 | (point & 0x3f));
    }
    return out;
}

static int is_digit(uint32_t entry) { return entry >= (WORD | '0') && entry <= (WORD | '9'); }

typedef struct {
    uint8_t *begin, *out;
    uint8_t *digits; /* begin of digits that may be a number by themselves, or NULL */
    uint8_t *number; /* end of the last number, or NULL */
} Written;

/* Digits are over that no letter follows: they become 0, or nothing if a number and a blank stand before. */
static void end_digits(Written *line) {
    if (!line->digits) return;
    if (line->number && line->digits == line->number + 1 && *line->number == ' ') line->out = line->number;
    else {
        line->out = line->digits;
        *line->out++ = '0';
        line->number = line->out;
    }
    line->digits = 0;
}

/* Writes a line; returns the end, or NULL if it has a character that is not in the table. */
static uint8_t *write_line(const uint32_t *table, int64_t known, const uint8_t *at, const uint8_t *end, uint8_t *out) {
    Written line = {out, out, 0, 0};
    int is_blank = 0, was_word = 0; /* a blank is to be written; the character before is a letter or digit */
    while (at < end) {
        uint32_t entry = next_entry(table, known, &at, end);
        if (entry == BEYOND) return 0;
        if (entry == DROPPED) continue;
        int is_word = entry >= WORD;
        if (line.digits && is_word && !is_digit(entry)) line.digits = 0;
        if (!is_word) end_digits(&line);
        if (entry == ' ') {
            is_blank = line.out > line.begin;
            was_word = 0;
            continue;
        }
        if (is_blank) *line.out++ = ' ';
        is_blank = 0;
        if (!was_word && is_digit(entry)) line.digits = line.out;
        line.out = put(entry & (WORD - 1), line.out);
        was_word = is_word;
    }
    end_digits(&line);
    return line.out;
}

/* Writes the skeleton of each line with a newline after it; a line with a character that is not in the table becomes a
   zero.  table: for the first characters of Unicode, what they become, with `WORD` for letters and digits.  There must
   be room for twice as many bytes as there are, and two.  Returns the number of bytes written. */
int64_t skeleton_lines(const uint32_t *table, int64_t known, const uint8_t *text, int64_t size, uint8_t *out) {
    const uint8_t *at = text, *stop = text + size;
    uint8_t *to = out;
    for (;;) {
        const uint8_t *end = at;
        while (end < stop && *end != '\n') end++;
        uint8_t *written = write_line(table, known, at, end, to);
        if (written) to = written;
        else *to++ = 0;
        *to++ = '\n';
        if (end == stop) return to - out;
        at = end + 1;
    }
}
