/* Characters of texts, counted by kind.

   `stages/filter/shared/characters.py` is the reference implementation; `kernels/characters.py` checks the
   input. */
#include <stdint.h>

typedef struct {
    int64_t size;             /* number of code points in the tables */
    const uint8_t *kind;      /* kind of each code point */
    const double *weights;    /* letters that each code point corresponds to; then, ideographs beyond the table */
    int64_t kinds;            /* number of kinds, at most 32 */
    int32_t space, lower;     /* kinds */
    uint32_t stops, beginnings, endings; /* sets of kinds, as bits */
    int32_t ideograph, other; /* kinds of code points beyond the table, below `ideographs_end` and above */
    int64_t ideographs_end;
} Kinds;

/* For each text: the number of characters of each kind, the kinds of the first and the last character of
   some kinds, the number of stops before a space and a lower-case letter, and the length in letters. */
void characters_count(
    const Kinds *kinds, int64_t texts, const int64_t *from, const uint32_t *points, int64_t *counts, uint8_t *first,
    uint8_t *last, int64_t *breaks, double *lengths) {
    for (int64_t text = 0; text < texts; text++) {
        int64_t *row = counts + text * kinds->kinds;
        uint8_t begin = 0, end = 0, before = 0, before_that = 0;
        int64_t broken = 0;
        double length = 0;
        for (int64_t at = from[text]; at < from[text + 1]; at++) {
            uint32_t point = points[at];
            uint8_t kind;
            if (point < kinds->size) {
                kind = kinds->kind[point];
                length += kinds->weights[point];
            } else {
                int is_ideograph = point < kinds->ideographs_end;
                kind = (uint8_t)(is_ideograph ? kinds->ideograph : kinds->other);
                length += is_ideograph ? kinds->weights[kinds->size] : 1;
            }
            row[kind]++;
            if (!begin && kinds->beginnings >> kind & 1) begin = kind;
            if (kinds->endings >> kind & 1) end = kind;
            if (kind == kinds->lower && before == kinds->space) broken += kinds->stops >> before_that & 1;
            before_that = before, before = kind;
        }
        first[text] = begin, last[text] = end, breaks[text] = broken;
        lengths[text] = length + 1.0 - 1.0; /* the reference counts a separator after each text */
    }
}

/* The length of each line of a text in UTF-8, in characters: runs of white space count as one, and not at the ends.

   kinds: for the first characters of Unicode, 0 for a character with another weight, 1 for any other, 2 for white space.
   A line with a character that is not in the table or has another weight has the length -1, as has one that is not
   valid.  There is a newline between two lines. */
void line_lengths(const uint8_t *kinds, int64_t known, const uint8_t *text, int64_t size, double *lengths) {
    int64_t length = 0, is_other = 0, is_waiting = 0; /* a blank is waiting for the next word */
    for (int64_t at = 0; at <= size;) {
        int64_t point = at < size ? text[at] : '\n';
        at++;
        if (point == '\n') {
            *lengths++ = is_other ? -1.0 : (double)length;
            length = is_other = is_waiting = 0;
            continue;
        }
        int more = point < 0x80 ? 0 : point < 0xc2 ? -1 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : -1;
        if (more > 0) point &= 0x3f >> more;
        for (; more > 0; more--) {
            if (at >= size || (text[at] & 0xc0) != 0x80) break;
            point = point << 6 | (text[at++] & 0x3f);
        }
        if (more || point >= known || !kinds[point]) is_other = 1;
        else if (kinds[point] == 2) is_waiting = length > 0;
        else {
            length += 1 + is_waiting;
            is_waiting = 0;
        }
    }
}
