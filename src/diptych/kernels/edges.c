/* Parser for the lines of a web graph: edges as `from TAB to`, vertices as `id TAB reversed.host [TAB count]`.

   `edges_reference.py` is the reference implementation.  The input is untrusted: no line may cause access
   outside the arrays. */
#include <stdint.h>
#include <string.h>

#define TOO_LARGE ((uint64_t)1 << 40) /* larger numbers are clipped; valid ids have 32 bits */
#define LONGEST_NAME 255

typedef struct {
    int64_t room, count;             /* capacity for lines, and number of lines written */
    int64_t bad, unknown, loops;     /* malformed lines, edges with unknown vertices, edges from a vertex to itself */
} Counts;

static int is_blank(uint8_t c) { return c == '\t' || c == ' ' || c == '\r'; }

/* Parses a number; returns its end, or NULL unless a blank or the end of the line follows it. */
static const uint8_t *number(const uint8_t *at, const uint8_t *end, uint64_t *value) {
    const uint8_t *from = at;
    uint64_t sum = 0;
    for (; at < end && (uint8_t)(*at - '0') <= 9; at++)
        sum = sum < TOO_LARGE ? 10 * sum + (uint64_t)(*at - '0') : TOO_LARGE;
    *value = sum < TOO_LARGE ? sum : TOO_LARGE;
    return at > from && (at == end || is_blank(*at)) ? at : NULL;
}

static const uint8_t *skip(const uint8_t *at, const uint8_t *end) {
    while (at < end && is_blank(*at)) at++;
    return at;
}

/* Writes edges as from << 32 | to; returns the number of bytes read, all of them complete lines. */
int64_t edges_parse(const uint8_t *text, int64_t size, uint64_t vertices, uint64_t *edges, Counts *counts) {
    const uint8_t *at = text, *stop = text + size;
    while (at < stop && counts->count < counts->room) {
        const uint8_t *end = memchr(at, '\n', (size_t)(stop - at)), *line = at;
        if (!end) break;
        uint64_t from, to;
        at = end + 1;
        line = skip(line, end);
        if (line == end) continue;
        if (!(line = number(line, end, &from)) || !number(skip(line, end), end, &to)) counts->bad++;
        else if (from >= vertices || to >= vertices) counts->unknown++;
        else if (from == to) counts->loops++;
        else edges[counts->count++] = from << 32 | to;
    }
    return at - text;
}

/* Writes ids, concatenated names and their lengths; clears `is_sorted` if the names do not ascend. */
int64_t vertices_parse(
    const uint8_t *text, int64_t size, int64_t *ids, uint8_t *names, int32_t *lengths, Counts *counts, int32_t *is_sorted) {
    const uint8_t *at = text, *stop = text + size;
    uint8_t *name = names;
    int32_t before = 0; /* length of the previous name */
    while (at < stop && counts->count < counts->room) {
        const uint8_t *end = memchr(at, '\n', (size_t)(stop - at)), *line = at, *tail;
        if (!end) break;
        uint64_t id;
        at = end + 1;
        line = skip(line, end);
        if (line == end) continue;
        line = number(line, end, &id);
        if (line) line = skip(line, end);
        for (tail = line; line && tail < end && *tail > ' ' && *tail != 127;) tail++;
        if (!line || tail == line || tail - line > LONGEST_NAME || (tail < end && !is_blank(*tail))) {
            counts->bad++;
            continue;
        }
        int32_t length = (int32_t)(tail - line), shared = length < before ? length : before;
        memcpy(name, line, (size_t)length); /* a name is shorter than its line */
        if (before) {
            int order = memcmp(name - before, name, (size_t)shared);
            if (order > 0 || (order == 0 && before >= length)) *is_sorted = 0;
        }
        ids[counts->count] = (int64_t)id;
        lengths[counts->count++] = before = length;
        name += length;
    }
    return at - text;
}
