/* What texts may have, so that most need no closer look; `kernels/text_hints.py` has the reference.

   Texts are lines of UTF-8, with a newline between two lines.  The input is untrusted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { UNREAD = 1, SUSPECT = 2, PERSONAL = 4 };                   /* of a text */
enum { SHARED = 1, LEFT_ADDRESS = 2, RIGHT_ADDRESS = 4, EXCERPTS = 8, ALIKE = 16 }; /* of two texts */
enum { DIGITS = 6, FIRST_SIGN = 0x600 };

typedef struct {
    const uint8_t *at, *end;
} Line;

/* The line that begins at a place. */
static Line line_at(const uint8_t *at, const uint8_t *stop) {
    const uint8_t *end = at < stop ? memchr(at, '\n', (size_t)(stop - at)) : NULL;
    return (Line){at, end ? end : stop};
}

/* The next character, which is moved past; 0xfffd if it is not valid. */
static uint32_t next_point(const uint8_t **at, const uint8_t *end) {
    const uint8_t *c = *at;
    uint32_t point = *c++;
    if (point >= 0x80) {
        int more = point < 0xc2 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
        point = more ? point & (0x3fu >> more) : 0xfffd;
        for (; more && c < end && (*c & 0xc0) == 0x80; more--) point = point << 6 | (*c++ & 0x3f);
        if (more) point = 0xfffd;
    }
    *at = c;
    return point;
}

static int is_suspect(uint32_t point) {
    return point < 0xa0 || point == 0xc2 || point == 0xc3 || point == 0x152 || point == 0x153;
}

/* 1 if a bracket may begin a spelled at sign, such as `(at)` or `[ arroba ]`. */
static int may_be_at(const uint8_t *at, const uint8_t *end) {
    at++;
    if (at < end && *at == ' ') at++;
    return at < end && (*at >= 0x80 || *at == '@' || (*at | 32) == 'a' || (*at | 32) == 'c');
}

static uint8_t hints_of(Line line) {
    uint8_t found = 0;
    int digits = 0, is_other = 0; /* the character before is not ASCII */
    for (const uint8_t *at = line.at; at < line.end;) {
        uint32_t point = *at;
        if (point >= 0x80) {
            point = next_point(&at, line.end);
            if (point == 0xfffd) found |= UNREAD;
            if (is_other || is_suspect(point)) found |= SUSPECT;
            if (point >= FIRST_SIGN && (point < 0x2000 || point > 0x2fff)) found |= PERSONAL;
            is_other = 1;
            continue;
        }
        is_other = 0;
        if (point >= '0' && point <= '9' && ++digits >= DIGITS) found |= PERSONAL;
        else if (point == '@') found |= PERSONAL;
        else if ((point == '(' || point == '[' || point == '{') && may_be_at(at, line.end)) found |= PERSONAL;
        else if (point == ' ' && line.end - at >= 4 && !memcmp(at, " AT ", 4)) found |= PERSONAL;
        at++;
    }
    return found;
}

/* Writes the hints of each line: whether it has a character that could not be read, characters that were perhaps
   decoded wrongly, or signs of personal data. */
void text_hints(const uint8_t *text, int64_t size, int64_t lines, uint8_t *out) {
    const uint8_t *at = text, *stop = text + size;
    for (int64_t k = 0; k < lines; k++) {
        Line line = line_at(at, stop);
        out[k] = hints_of(line);
        at = line.end < stop ? line.end + 1 : stop;
    }
}

/* White space as Python defines it. */
static int is_space(uint32_t point) {
    if (point < 0x80) return point == ' ' || (point >= 9 && point <= 13) || (point >= 0x1c && point <= 0x1f);
    return point == 0x85 || point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x2028
        || point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
}

/* The next word of a line, which is moved past; its size is 0 at the end. */
static Line next_word(Line *line) {
    Line word = {line->at, line->at};
    while (line->at < line->end) {
        const uint8_t *from = line->at;
        if (is_space(next_point(&line->at, line->end))) {
            if (word.end > word.at) return word;
            word.at = word.end = line->at;
        } else {
            if (word.end == word.at) word.at = from;
            word.end = line->at;
        }
    }
    return word;
}

typedef struct {
    Line *slots;
    int64_t *stamps; /* line whose word is in each slot */
    int64_t size, mask;
    uint64_t seed;
} Words;

static int64_t slot_of(const Words *words, Line word, int64_t stamp) {
    uint64_t sum = words->seed;
    for (const uint8_t *c = word.at; c < word.end; c++) sum = (sum ^ *c) * 0x100000001b3u;
    sum = (sum ^ sum >> 29) * 0xff51afd7ed558ccdu;
    int64_t slot = (int64_t)(sum >> 20) & words->mask;
    for (; words->stamps[slot] == stamp; slot = (slot + 1) & words->mask) {
        Line known = words->slots[slot];
        if (known.end - known.at == word.end - word.at && !memcmp(known.at, word.at, (size_t)(word.end - word.at))) break;
    }
    return slot;
}

/* 1 if two lines have a word in common; -1 if memory is exhausted. */
static int have_common(Words *words, Line left, Line right, int64_t stamp) {
    int64_t most = left.end - left.at + 2; /* at least twice as many slots as words */
    if (most > words->size) {
        int64_t size = 64;
        while (size < most) size *= 2;
        free(words->slots);
        free(words->stamps);
        words->slots = malloc((size_t)size * sizeof *words->slots);
        words->stamps = calloc((size_t)size, sizeof *words->stamps);
        if (!words->slots || !words->stamps) return -1;
        words->size = size, words->mask = size - 1;
    }
    for (Line word = next_word(&left); word.end > word.at; word = next_word(&left)) {
        int64_t slot = slot_of(words, word, stamp);
        words->slots[slot] = word, words->stamps[slot] = stamp;
    }
    for (Line word = next_word(&right); word.end > word.at; word = next_word(&right))
        if (words->stamps[slot_of(words, word, stamp)] == stamp) return 1;
    return 0;
}

static int may_have_address(Line line) {
    for (const uint8_t *at = line.at; at < line.end; at++) {
        if (*at == '@') return 1;
        if (*at == ':' && line.end - at >= 3 && at[1] == '/' && at[2] == '/') return 1;
        if (*at == 'w' && line.end - at >= 4 && !memcmp(at, "www.", 4)) return 1;
    }
    return 0;
}

static int ends_with(Line line, const char *end) {
    int64_t size = (int64_t)strlen(end);
    return line.end - line.at >= size && !memcmp(line.end - size, end, (size_t)size);
}

/* 1 if a line ends with an ellipsis, perhaps in brackets or quotation marks. */
static int is_excerpt(Line line) {
    static const char *after[] = {" ", "]", ")", "\xc2\xbb", "\xe2\x80\x9d", "\"", "'"};
    for (int k = 0; k < 7; k++)
        if (ends_with(line, after[k])) line.end -= strlen(after[k]), k = -1;
    return ends_with(line, "\xe2\x80\xa6") || ends_with(line, "...");
}

static int lower(uint8_t letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; }

static int is_letter(uint8_t letter) { return lower(letter) >= 'a' && lower(letter) <= 'z'; }

/* 0 if two lines certainly differ in their letters, because they begin with different ones. */
static int are_alike(Line left, Line right) {
    if (left.at == left.end || right.at == right.end) return 1;
    return !is_letter(*left.at) || !is_letter(*right.at) || lower(*left.at) == lower(*right.at);
}

/* Writes the hints of each pair of lines; returns 0 if memory is exhausted. */
int32_t pair_hints(
    const uint8_t *left, int64_t left_size, const uint8_t *right, int64_t right_size, int64_t lines, uint64_t seed,
    uint8_t *out) {
    Words words = {NULL, NULL, 0, 0, seed};
    const uint8_t *at[2] = {left, right}, *stop[2] = {left + left_size, right + right_size};
    int is_done = 1;
    for (int64_t k = 0; k < lines && is_done; k++) {
        Line ours = line_at(at[0], stop[0]), theirs = line_at(at[1], stop[1]);
        int common = have_common(&words, ours, theirs, k + 1);
        is_done = common >= 0;
        out[k] = (uint8_t)((common > 0 ? SHARED : 0) | (may_have_address(ours) ? LEFT_ADDRESS : 0)
            | (may_have_address(theirs) ? RIGHT_ADDRESS : 0)
            | (is_excerpt(ours) && is_excerpt(theirs) ? EXCERPTS : 0) | (are_alike(ours, theirs) ? ALIKE : 0));
        at[0] = ours.end < stop[0] ? ours.end + 1 : stop[0];
        at[1] = theirs.end < stop[1] ? theirs.end + 1 : stop[1];
    }
    free(words.slots);
    free(words.stamps);
    return is_done;
}
