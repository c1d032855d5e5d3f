/* Word evidence of segments: how well the words of their two sides correspond.

   `stages/filter/quality/vocabulary.py` is the reference implementation and explains the measures.  All
   sums are taken in its order, so that the results are equal to the last bit.  `kernels/word_evidence.py`
   checks the input. */
#include "beads.h"
#include "word_links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side of all segments.  If these are several groups, the words, the entries and the tokens of the groups
   follow each other, and `order`, `word` and `from` count from the beginning of their group. */
typedef struct {
    int64_t segments, words, entries;
    const int64_t *word_from, *entry_from; /* groups + 1: the words and the entries of each group */
    const int64_t *token_from; /* segments + 1: the tokens of each segment */
    const int64_t *order;      /* tokens: index of each token's word in the bags */
    const int32_t *stem;       /* words: the number of each word's stem */
    const int32_t *word;       /* bags: word, count and mean position of each entry, and the entries of each segment */
    const float *count;
    const double *position;
    const int64_t *from;
    const double *rarity;  /* words */
    const int64_t *row;    /* stems: row of the lexicon, or -1 */
    const double *trust;   /* stems: probability that the lexicon knows the stem */
    const int64_t *table_from;
    const int32_t *table_column;
    const float *table_value;
    int64_t rows; /* of the table */
} Side;

typedef struct {
    const uint8_t *is_number; /* stems */
    const uint8_t *text;      /* spellings of all stems, concatenated, and the offset of each */
    const int64_t *at;
} Stems;

typedef struct {
    double rare, base, min_lift;          /* smoothing of frequencies, and the minimum lift of a link */
    double name, number, frequent;        /* trust in words of both sides: names, numbers, and the count of frequent ones */
    double null_share;                    /* share of words without a counterpart */
} Settings;

enum {
    GAIN, MARGIN = 2, KNOWN = 4, COVERED = 6, LINKS = 8, IN_ORDER, DISPLACED, JUMPS, NUMBERS, NAMES = 15, COPIED = 18,
    UNLINKED, UNLINKED_COLUMNS = 8, COLUMNS = UNLINKED + 2 * UNLINKED_COLUMNS
};

/* Memory that is freed together. */
#define MOST_BLOCKS 96
typedef struct {
    void *blocks[MOST_BLOCKS];
    int count, is_short;
} Memory;

static void *take(Memory *memory, int64_t count, size_t size, int is_zero) {
    void *block = NULL;
    if (memory->count < MOST_BLOCKS && count >= 0)
        block = is_zero ? calloc((size_t)count + 1, size) : malloc(((size_t)count + 1) * size);
    if (!block) memory->is_short = 1;
    else memory->blocks[memory->count++] = block;
    return block;
}

static void release(Memory *memory) {
    while (memory->count) free(memory->blocks[--memory->count]);
}

/* One side during the computation. */
typedef struct {
    double *counts;    /* words: number of occurrences in all segments */
    double *trust;     /* words */
    int32_t *partner;  /* words: the same word on the other side, or -1 */
    int32_t *slot;     /* words: 1 + index in the bag of the current segment, or 0 */
    uint8_t *is_linked; /* entries */
    double *best;      /* entries: highest lift of a link */
    double *sizes;     /* segments: number of tokens */
    int64_t *link_from; /* lifts of links by word: offsets, words of the other side, lifts */
    int32_t *link_word;
    float *link_lift;
} State;

static int ascending(const void *a, const void *b) {
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one > other) - (one < other);
}

#define FEW 24 /* numbers that are sorted by insertion */

static void sort_words(int32_t *words, int64_t count) {
    if (count > FEW) {
        qsort(words, (size_t)count, sizeof *words, ascending);
        return;
    }
    for (int64_t k = 1; k < count; k++) {
        int32_t word = words[k];
        int64_t at = k;
        for (; at && words[at - 1] > word; at--) words[at] = words[at - 1];
        words[at] = word;
    }
}

/* The segments of a group, whose offsets begin at 0: `token_from` of the group is written to `own`. */
static void rebase(const int64_t *token_from, int64_t segments, int64_t *own) {
    for (int64_t s = 0; s <= segments; s++) own[s] = token_from[s] - token_from[0];
}

/* Where the bags of texts are written: an entry per token, and an offset more than there are texts. */
typedef struct {
    int32_t *vocabulary;
    int64_t *segment;
    int32_t *word;
    float *count;
    double *position;
    int64_t *from, *order;
} Bags;

/* Space for the bags of a group; `own` has a number for each stem, which is 0 before and after. */
typedef struct {
    int32_t *own, *local;
    int64_t *last, *slot;
} Room;

/* Writes the bags of a group; returns the size of its vocabulary, or -1 if a stem is out of range. */
static int64_t fill_bags(
    int64_t segments, const int64_t *token_from, const int32_t *stem, int64_t stems, const Room *room, const Bags *out) {
    int64_t tokens = token_from[segments], words = 0, entry = 0, t = 0;
    for (; t < tokens && stem[t] >= 0 && stem[t] < stems; t++) {
        if (!room->own[stem[t]]) {
            out->vocabulary[words++] = stem[t];
            room->own[stem[t]] = (int32_t)words;
            room->last[words - 1] = 0;
        }
        room->local[t] = room->own[stem[t]] - 1;
    }
    for (int64_t w = 0; w < words; w++) room->own[out->vocabulary[w]] = 0;
    if (t < tokens) return -1;
    for (int64_t s = 0; s < segments; s++) {
        int64_t begin = token_from[s], end = token_from[s + 1], first = entry;
        out->from[s] = first;
        for (t = begin; t < end; t++) {
            int32_t word = room->local[t];
            if (room->last[word] != s + 1) room->last[word] = s + 1, out->word[entry++] = word;
        }
        sort_words(out->word + first, entry - first);
        for (int64_t e = first; e < entry; e++) {
            room->slot[out->word[e]] = e;
            out->segment[e] = s, out->count[e] = 0, out->position[e] = 0;
        }
        for (t = begin; t < end; t++) {
            int64_t e = out->order[t] = room->slot[room->local[t]];
            out->count[e] += 1;
            out->position[e] += ((double)(t - begin) + 0.5) / (double)(end - begin);
        }
        for (int64_t e = first; e < entry; e++) out->position[e] /= (double)out->count[e];
    }
    out->from[segments] = entry;
    return words;
}

/* For each group of segments, writes the distinct stems of its tokens to `vocabulary`, in order of occurrence, and
   the bag of each segment.

   The entries of a bag are in the order of the vocabulary.  All groups are written one after the other; indices and
   offsets are those within the group.  group_from: groups + 1, the segments of each group.  stem: the stem of each
   token, below `stems`.  from: space for segments + groups.  word_from, entry_from: groups + 1.  Returns 0 if
   memory is exhausted, and -1 if a stem is out of range. */
int32_t evidence_bags(
    int64_t groups, const int64_t *group_from, const int64_t *token_from, const int32_t *stem, int64_t stems,
    const Bags *out, int64_t *word_from, int64_t *entry_from) {
    Memory memory = {{0}, 0, 0};
    int64_t segments = group_from[groups], tokens = token_from[segments];
    Room room = {
        take(&memory, stems, sizeof *room.own, 1), take(&memory, tokens, sizeof *room.local, 0),
        take(&memory, tokens, sizeof *room.last, 0), take(&memory, tokens, sizeof *room.slot, 0)};
    int64_t *own = take(&memory, segments + 1, sizeof *own, 0);
    word_from[0] = entry_from[0] = 0;
    int is_sound = 1;
    for (int64_t g = 0; g < groups && is_sound && !memory.is_short; g++) {
        int64_t begin = group_from[g], count = group_from[g + 1] - begin, words = word_from[g], entry = entry_from[g];
        int64_t token = token_from[begin];
        rebase(token_from + begin, count, own);
        Bags part = {
            out->vocabulary + words, out->segment + entry, out->word + entry, out->count + entry,
            out->position + entry, out->from + begin + g, out->order + token};
        int64_t found = fill_bags(count, own, stem + token, stems, &room, &part);
        is_sound = found >= 0;
        word_from[g + 1] = words + (found < 0 ? 0 : found);
        entry_from[g + 1] = entry + (found < 0 ? 0 : part.from[count]);
    }
    release(&memory);
    return is_sound ? !memory.is_short : -1;
}

static void prepare(const Side *side, State *state, Memory *memory) {
    state->counts = take(memory, side->words, sizeof *state->counts, 1);
    state->trust = take(memory, side->words, sizeof *state->trust, 0);
    state->partner = take(memory, side->words, sizeof *state->partner, 0);
    state->slot = take(memory, side->words, sizeof *state->slot, 1);
    state->is_linked = take(memory, side->entries, sizeof *state->is_linked, 1);
    state->best = take(memory, side->entries, sizeof *state->best, 1);
    state->sizes = take(memory, side->segments, sizeof *state->sizes, 0);
    state->link_from = take(memory, side->words + 1, sizeof *state->link_from, 1);
    if (memory->is_short) return;
    for (int64_t e = 0; e < side->entries; e++) state->counts[side->word[e]] += side->count[e];
    for (int64_t w = 0; w < side->words; w++) {
        state->trust[w] = side->trust[side->stem[w]];
        state->partner[w] = -1;
    }
    for (int64_t s = 0; s < side->segments; s++)
        state->sizes[s] = (double)(side->token_from[s + 1] - side->token_from[s]);
}

/* Finds the words that both sides have, and the probability that each is a name or a number. */
static void share(
    const Side *left, const Side *right, const Stems *stems, int64_t count, const Settings *settings, State *ours,
    State *theirs, Memory *memory) {
    int32_t *place = take(memory, count, sizeof *place, 1);
    if (!place) return;
    for (int64_t w = 0; w < right->words; w++) place[right->stem[w]] = (int32_t)w + 1;
    for (int64_t w = 0; w < left->words; w++) {
        int32_t other = place[left->stem[w]] - 1;
        if (other < 0) continue;
        ours->partner[w] = other;
        theirs->partner[other] = (int32_t)w;
        double one = ours->counts[w], two = theirs->counts[other];
        double most = one > two ? one : two, least = one > two ? two : one;
        int is_number = stems->is_number[left->stem[w]];
        double often = is_number || settings->frequent / most > 1 ? 1 : settings->frequent / most;
        double copied = (is_number ? settings->number : settings->name) * least / most * often;
        if (copied > ours->trust[w]) ours->trust[w] = copied;
        if (copied > theirs->trust[other]) theirs->trust[other] = copied;
    }
}

/* The words of a side in the form that `links_find` requires; `room` increases by their entries in the lexicon. */
static Words spell(const Side *side, const Stems *stems, Memory *memory, int64_t *room) {
    Words words = {side->words, NULL, side->table_from, side->table_column, side->table_value, side->rows, NULL, NULL};
    int64_t *row = take(memory, side->words, sizeof *row, 0), *at = take(memory, side->words, sizeof *at, 0), size = 0;
    for (int64_t w = 0; w < side->words; w++) size += stems->at[side->stem[w] + 1] - stems->at[side->stem[w]];
    uint8_t *text = take(memory, size, 1, 0);
    if (memory->is_short) return words;
    at[0] = 0;
    for (int64_t w = 0; w < side->words; w++) {
        int64_t begin = stems->at[side->stem[w]], length = stems->at[side->stem[w] + 1] - begin;
        memcpy(text + at[w], stems->text + begin, (size_t)length);
        at[w + 1] = at[w] + length;
        row[w] = side->row[side->stem[w]];
        if (row[w] >= 0) *room += side->table_from[row[w] + 1] - side->table_from[row[w]];
    }
    words.row = row, words.at = at, words.text = text;
    return words;
}

static double total(const double *values, int64_t count) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) sum += values[k];
    return sum;
}

/* The lifts of links for the words of one side: those of at least the minimum, ordered by both words. */
static void lift(
    const Settings *settings, int64_t words, const int32_t *own, const int32_t *other, const float *share_of,
    int64_t count, State *state, Memory *memory) {
    double all = total(state->counts, words) + settings->base;
    double *lifts = take(memory, count, sizeof *lifts, 0);
    state->link_word = take(memory, count, sizeof *state->link_word, 0);
    state->link_lift = take(memory, count, sizeof *state->link_lift, 0);
    if (memory->is_short) return;
    int64_t *from = state->link_from;
    for (int64_t k = 0; k < count; k++) {
        lifts[k] = (double)share_of[k] / ((state->counts[own[k]] + settings->rare) / all);
        if (lifts[k] >= settings->min_lift) from[own[k] + 1]++;
    }
    for (int64_t w = 0; w < words; w++) from[w + 1] += from[w];
    for (int64_t k = 0; k < count; k++) {
        if (lifts[k] < settings->min_lift) continue;
        int64_t at = from[own[k]]++;
        state->link_word[at] = other[k];
        state->link_lift[at] = (float)lifts[k];
    }
    for (int64_t w = words; w > 0; w--) from[w] = from[w - 1];
    from[0] = 0;
}

static void link_words(
    const Side *left, const Side *right, const Stems *stems, const Looks *looks, const Settings *settings, State *ours,
    State *theirs, Memory *memory) {
    int64_t room = 0, compared = 2 * looks->most < right->words ? 2 * looks->most : right->words;
    Words own = spell(left, stems, memory, &room), other = spell(right, stems, memory, &room);
    room += compared * left->words;
    Found found = {
        room, 0, take(memory, room, sizeof *found.left, 0), take(memory, room, sizeof *found.right, 0),
        take(memory, room, sizeof *found.forward, 0), take(memory, room, sizeof *found.backward, 0)};
    if (memory->is_short) return;
    if (!links_find(&own, &other, looks, &found)) {
        memory->is_short = 1;
        return;
    }
    lift(settings, left->words, found.left, found.right, found.backward, found.count, ours, memory);
    lift(settings, right->words, found.right, found.left, found.forward, found.count, theirs, memory);
}

/* For each word of a side, the segments that contain it, and its count there. */
static void post(const Side *side, int64_t *from, int32_t *place, float *count) {
    for (int64_t e = 0; e < side->entries; e++) from[side->word[e] + 1]++;
    for (int64_t w = 0; w < side->words; w++) from[w + 1] += from[w];
    for (int64_t s = 0; s < side->segments; s++)
        for (int64_t e = side->from[s]; e < side->from[s + 1]; e++) {
            int64_t at = from[side->word[e]]++;
            place[at] = (int32_t)s;
            count[at] = side->count[e];
        }
    for (int64_t w = side->words; w > 0; w--) from[w] = from[w - 1];
    from[0] = 0;
}

/* Writes the gain, the margin and the number of known words of each segment of one side. */
static void gain(
    const Side *side, const Side *other, const State *own, const State *theirs, const Settings *settings, int which,
    double *out, Memory *memory) {
    int64_t n = side->segments;
    float *weighted = take(memory, side->entries, sizeof *weighted, 0), *gains = take(memory, 3 * n, sizeof *gains, 1);
    double *known = out + (KNOWN + which) * n, products[6];
    double *words_before = take(memory, n, sizeof *words_before, 0), *loose_before = take(memory, n, sizeof *loose_before, 0);
    int32_t *low = take(memory, n, sizeof *low, 0), *high = take(memory, n, sizeof *high, 0);
    int64_t *start = take(memory, n, sizeof *start, 0), *post_from = take(memory, other->words + 1, sizeof *post_from, 1);
    int32_t *post_place = take(memory, other->entries, sizeof *post_place, 0);
    float *post_count = take(memory, other->entries, sizeof *post_count, 0), *room = take(memory, n, sizeof *room, 1);
    if (memory->is_short) return;
    post(other, post_from, post_place, post_count);
    words_before[0] = loose_before[0] = 0;
    start[0] = 0;
    for (int64_t s = 0; s < n; s++) {
        double sum = 0, loose = 0;
        for (int64_t e = side->from[s]; e < side->from[s + 1]; e++) {
            double weight = own->trust[side->word[e]] * side->count[e];
            weighted[e] = (float)weight;
            sum += weight;
        }
        for (int64_t e = other->from[s]; e < other->from[s + 1]; e++)
            loose += (1 - theirs->trust[other->word[e]]) * other->count[e];
        known[s] = sum;
        words_before[s + 1] = words_before[s] + (theirs->sizes[s] > 1 ? theirs->sizes[s] : 1);
        loose_before[s + 1] = loose_before[s] + loose;
        low[s] = (int32_t)(s ? s - 1 : 0);
        high[s] = (int32_t)(s + 2 < n ? s + 2 : n);
        start[s + 1] = start[s] + high[s] - low[s];
    }
    beads_gains(
        n, side->from, side->word, weighted, own->link_from, own->link_word, own->link_lift, post_from, post_place,
        post_count, low, high, start, start[n], words_before, loose_before, 1, settings->null_share, room, products, gains);
    for (int64_t s = 0; s < n; s++) {
        int64_t middle = start[s] + s - low[s];
        double reached = gains[middle], best = -INFINITY;
        if (s) best = gains[middle - 1];
        if (s < n - 1 && gains[middle + 1] > best) best = gains[middle + 1];
        if (!isfinite(best)) best = reached;
        out[(GAIN + which) * n + s] = reached / (known[s] + 1.0);
        out[(MARGIN + which) * n + s] = (reached - best) / (known[s] + 1.0);
    }
}

/* A link between two words of a segment: their entries in the bags, and their positions. */
typedef struct {
    int64_t here, there;
    double lift, ours, theirs;
} Link;

static int by_position(const void *a, const void *b) {
    const Link *one = a, *other = b;
    if (one->ours != other->ours) return one->ours < other->ours ? -1 : 1;
    return (one->theirs > other->theirs) - (one->theirs < other->theirs);
}

static void sort_links(Link *links, int64_t count) {
    if (count > FEW) {
        qsort(links, (size_t)count, sizeof *links, by_position);
        return;
    }
    for (int64_t k = 1; k < count; k++) {
        Link link = links[k];
        int64_t at = k;
        for (; at && by_position(&links[at - 1], &link) > 0; at--) links[at] = links[at - 1];
        links[at] = link;
    }
}

/* Writes all links of a segment, and the highest lift of each linked word; returns their number. */
static int64_t list_links(const Side *left, const Side *right, State *ours, State *theirs, int64_t s, Link *links) {
    int64_t count = 0;
    for (int64_t e = left->from[s]; e < left->from[s + 1]; e++) {
        int32_t word = left->word[e];
        for (int64_t l = ours->link_from[word]; l < ours->link_from[word + 1]; l++) {
            int64_t there = (int64_t)theirs->slot[ours->link_word[l]] - 1;
            if (there < 0) continue;
            double value = ours->link_lift[l];
            Link link = {e, there, value, left->position[e], right->position[there]};
            links[count++] = link;
            ours->is_linked[e] = theirs->is_linked[there] = 1;
            if (value > ours->best[e]) ours->best[e] = value;
            if (value > theirs->best[there]) theirs->best[there] = value;
        }
    }
    return count;
}

/* Writes `links`, `in_order`, `displaced` and `jumps` of a segment. */
static void compare_order(const State *ours, const State *theirs, Link *links, int64_t count, int64_t n, double *out) {
    int64_t mutual = 0;
    for (int64_t k = 0; k < count; k++)
        if (links[k].lift >= ours->best[links[k].here] && links[k].lift >= theirs->best[links[k].there])
            links[mutual++] = links[k];
    sort_links(links, mutual);
    double distance = 0, jumps = 0, risen = 0, steps = mutual > 1 ? (double)(mutual - 1) : 0;
    for (int64_t k = 0; k < mutual; k++) distance += fabs(links[k].ours - links[k].theirs);
    for (int64_t k = 1; k < mutual; k++) {
        jumps += fabs((links[k].ours - links[k - 1].ours) - (links[k].theirs - links[k - 1].theirs));
        if (links[k].theirs > links[k - 1].theirs) risen++;
    }
    out[LINKS * n] = (double)mutual;
    out[IN_ORDER * n] = (risen + 1.5) / (steps + 2.0);
    out[DISPLACED * n] = (distance + 0.3) / ((double)mutual + 2.0);
    out[JUMPS * n] = (jumps + 0.3) / (steps + 2.0);
}

/* Counts of the words of one side of a segment. */
typedef struct {
    double numbers, names;           /* on both sides */
    double lost_numbers, lost_names; /* on this side only */
    double plain, shared;            /* words other than numbers, and those on both sides */
} Counts;

static Counts count_words(const Side *side, const Stems *stems, const State *own, const State *other, int64_t s) {
    Counts counts = {0, 0, 0, 0, 0, 0};
    for (int64_t e = side->from[s]; e < side->from[s + 1]; e++) {
        int32_t partner = own->partner[side->word[e]];
        int is_both = partner >= 0 && other->slot[partner];
        if (stems->is_number[side->stem[side->word[e]]]) *(is_both ? &counts.numbers : &counts.lost_numbers) += 1;
        else {
            counts.plain++, counts.shared += is_both;
            if (partner >= 0) *(is_both ? &counts.names : &counts.lost_names) += 1;
        }
    }
    return counts;
}

static void compare_words(const Counts *ours, const Counts *theirs, int64_t n, double *out) {
    double fewer = ours->plain < theirs->plain ? ours->plain : theirs->plain;
    double numbers[] = {ours->numbers, ours->lost_numbers, theirs->lost_numbers};
    double names[] = {ours->names, ours->lost_names, theirs->lost_names};
    for (int k = 0; k < 3; k++) out[(NUMBERS + k) * n] = numbers[k], out[(NAMES + k) * n] = names[k];
    out[COPIED * n] = ours->shared / (fewer > 1 ? fewer : 1);
}

static double covered(const Side *side, const State *state, int64_t s) {
    double linked = 0, all = 0;
    for (int64_t e = side->from[s]; e < side->from[s + 1]; e++) {
        double weight = state->trust[side->word[e]] * side->rarity[side->word[e]];
        all += weight;
        if (state->is_linked[e]) linked += weight;
    }
    return (linked + 2.0) / (all + 4.0);
}

/* Writes the measures of the words of one side of a segment that are not linked: `unlinked.py` explains them. */
static void count_unlinked(const Side *side, const State *state, int64_t s, int64_t n, double *out) {
    double total = 0, known = 0, all_known = 0, longest = 0, longest_known = 0, first = 0, run = 0, run_known = 0;
    int64_t begin = side->token_from[s], end = side->token_from[s + 1];
    for (int64_t t = begin; t < end; t++) {
        int64_t entry = side->order[t];
        double trust = state->trust[side->word[entry]];
        all_known += trust;
        if (state->is_linked[entry]) {
            run = run_known = 0;
            continue;
        }
        total++, known += trust, run++, run_known += trust;
        if (run > longest) longest = run;
        if (run_known > longest_known) longest_known = run_known;
        if (run == (double)(t - begin + 1)) first = run;
    }
    double words = state->sizes[s] > 1 ? state->sizes[s] : 1;
    double found[] = {total, total / words, known, known / (all_known + 1.0), longest, longest_known, first, run};
    for (int k = 0; k < UNLINKED_COLUMNS; k++) out[k * n] = found[k];
}

static void fill_slots(const Side *side, State *state, int64_t s, int is_full) {
    for (int64_t e = side->from[s]; e < side->from[s + 1]; e++) state->slot[side->word[e]] = is_full ? (int32_t)e + 1 : 0;
}

/* The highest number of links that any segment can have. */
static int64_t most_links(const Side *left, const Side *right, const State *ours) {
    int64_t most = 0;
    for (int64_t s = 0; s < left->segments; s++) {
        int64_t sum = 0, others = right->from[s + 1] - right->from[s];
        for (int64_t e = left->from[s]; e < left->from[s + 1]; e++) {
            int64_t own = ours->link_from[left->word[e] + 1] - ours->link_from[left->word[e]];
            sum += own < others ? own : others;
        }
        if (sum > most) most = sum;
    }
    return most;
}

/* Writes a column of `segments` numbers for each measure of a group to `out`; returns 0 if memory is exhausted. */
static int measure(
    const Side *left, const Side *right, const Stems *stems, int64_t count, const Looks *looks, const Settings *settings,
    double *out) {
    Memory memory = {{0}, 0, 0};
    State ours, theirs;
    int64_t n = left->segments;
    prepare(left, &ours, &memory);
    prepare(right, &theirs, &memory);
    if (!memory.is_short) share(left, right, stems, count, settings, &ours, &theirs, &memory);
    if (!memory.is_short) link_words(left, right, stems, looks, settings, &ours, &theirs, &memory);
    if (!memory.is_short) gain(left, right, &ours, &theirs, settings, 0, out, &memory);
    if (!memory.is_short) gain(right, left, &theirs, &ours, settings, 1, out, &memory);
    Link *links = memory.is_short ? NULL : take(&memory, most_links(left, right, &ours), sizeof *links, 0);
    for (int64_t s = 0; s < n && !memory.is_short; s++) {
        fill_slots(left, &ours, s, 1), fill_slots(right, &theirs, s, 1);
        int64_t found = list_links(left, right, &ours, &theirs, s, links);
        Counts mine = count_words(left, stems, &ours, &theirs, s), others = count_words(right, stems, &theirs, &ours, s);
        compare_order(&ours, &theirs, links, found, n, out + s);
        compare_words(&mine, &others, n, out + s);
        out[COVERED * n + s] = covered(left, &ours, s);
        out[(COVERED + 1) * n + s] = covered(right, &theirs, s);
        count_unlinked(left, &ours, s, n, out + UNLINKED * n + s);
        count_unlinked(right, &theirs, s, n, out + (UNLINKED + UNLINKED_COLUMNS) * n + s);
        fill_slots(left, &ours, s, 0), fill_slots(right, &theirs, s, 0);
    }
    release(&memory);
    return !memory.is_short;
}

/* One group of a side that has several; `token_from` is space for the offsets of its tokens. */
static Side part_of(const Side *side, const int64_t *group_from, int64_t g, int64_t *token_from) {
    Side part = *side;
    int64_t begin = group_from[g], words = side->word_from[g], entry = side->entry_from[g];
    part.segments = group_from[g + 1] - begin;
    part.words = side->word_from[g + 1] - words;
    part.entries = side->entry_from[g + 1] - entry;
    rebase(side->token_from + begin, part.segments, token_from);
    part.token_from = token_from;
    part.order += side->token_from[begin];
    part.stem += words, part.rarity += words;
    part.word += entry, part.count += entry, part.position += entry;
    part.from += begin + g;
    return part;
}

/* Writes a column of `segments` numbers for each measure to `out`; returns 0 if memory is exhausted.
   Each group is measured by itself.  count: the number of stems, which is the size of all arrays by stem. */
int32_t evidence_measures(
    int64_t groups, const int64_t *group_from, const Side *left, const Side *right, const Stems *stems, int64_t count,
    const Looks *looks, const Settings *settings, double *out) {
    Memory memory = {{0}, 0, 0};
    int64_t n = left->segments;
    int64_t *ours = take(&memory, n + 1, sizeof *ours, 0), *theirs = take(&memory, n + 1, sizeof *theirs, 0);
    double *found = take(&memory, COLUMNS * n, sizeof *found, 1);
    for (int64_t g = 0; g < groups && !memory.is_short; g++) {
        Side one = part_of(left, group_from, g, ours), other = part_of(right, group_from, g, theirs);
        if (!measure(&one, &other, stems, count, looks, settings, found)) memory.is_short = 1;
        for (int64_t k = 0; k < COLUMNS; k++)
            memcpy(out + k * n + group_from[g], found + k * one.segments, (size_t)one.segments * sizeof *out);
    }
    release(&memory);
    return !memory.is_short;
}

/* Writes the gain of each text of a side with each text of the other side: a row per text. */
static void gain_all(
    const Side *side, const Side *other, const State *own, const State *theirs, const Settings *settings, float *gains,
    Memory *memory) {
    int64_t n = side->segments, m = other->segments;
    float *weighted = take(memory, side->entries, sizeof *weighted, 0), *room = take(memory, m, sizeof *room, 1);
    double *words_before = take(memory, m, sizeof *words_before, 0), *loose_before = take(memory, m, sizeof *loose_before, 0);
    double *products = take(memory, 2 * m, sizeof *products, 0);
    int32_t *low = take(memory, n, sizeof *low, 1), *high = take(memory, n, sizeof *high, 0);
    int64_t *start = take(memory, n, sizeof *start, 0), *post_from = take(memory, other->words + 1, sizeof *post_from, 1);
    int32_t *post_place = take(memory, other->entries, sizeof *post_place, 0);
    float *post_count = take(memory, other->entries, sizeof *post_count, 0);
    if (memory->is_short) return;
    post(other, post_from, post_place, post_count);
    for (int64_t e = 0; e < side->entries; e++) weighted[e] = (float)(side->count[e] * own->trust[side->word[e]]);
    for (int64_t s = 0; s <= n; s++) start[s] = s * m;
    for (int64_t s = 0; s < n; s++) high[s] = (int32_t)m;
    words_before[0] = loose_before[0] = 0;
    for (int64_t s = 0; s < m; s++) {
        double loose = theirs->sizes[s] > 0 ? 0 : 1;
        for (int64_t e = other->from[s]; e < other->from[s + 1]; e++)
            loose += other->count[e] * (1 - theirs->trust[other->word[e]]);
        words_before[s + 1] = words_before[s] + (theirs->sizes[s] > 1 ? theirs->sizes[s] : 1);
        loose_before[s + 1] = loose_before[s] + loose;
    }
    beads_gains(
        n, side->from, side->word, weighted, own->link_from, own->link_word, own->link_lift, post_from, post_place,
        post_count, low, high, start, n * m, words_before, loose_before, 1, settings->null_share, room, products, gains);
}

/* Writes the mean gain of both directions for each pair of texts, of which `backward` is the share of the second.
   The two sides may have different numbers of texts.  out: zeros, a row per left text.  Returns 0 if memory is
   exhausted. */
int32_t evidence_texts(
    const Side *left, const Side *right, const Stems *stems, int64_t count, const Looks *looks, const Settings *settings,
    double backward, float *out) {
    Memory memory = {{0}, 0, 0};
    State ours, theirs;
    int64_t n = left->segments, m = right->segments;
    float *turned = take(&memory, n * m, sizeof *turned, 1), share_of = (float)backward, rest = (float)(1 - backward);
    prepare(left, &ours, &memory);
    prepare(right, &theirs, &memory);
    if (!memory.is_short) share(left, right, stems, count, settings, &ours, &theirs, &memory);
    if (!memory.is_short) link_words(left, right, stems, looks, settings, &ours, &theirs, &memory);
    if (!memory.is_short) gain_all(left, right, &ours, &theirs, settings, out, &memory);
    if (!memory.is_short) gain_all(right, left, &theirs, &ours, settings, turned, &memory);
    for (int64_t s = 0; s < n && !memory.is_short; s++)
        for (int64_t t = 0; t < m; t++) out[s * m + t] = rest * out[s * m + t] + share_of * turned[t * n + s];
    release(&memory);
    return !memory.is_short;
}

/* 1 if offsets start at 0, never decrease and end at `end`. */
static int are_offsets(const int64_t *offsets, int64_t rows, int64_t end) {
    if (offsets[0] || offsets[rows] != end) return 0;
    for (int64_t k = 0; k < rows; k++)
        if (offsets[k + 1] < offsets[k]) return 0;
    return 1;
}

/* 1 if the bags of a group are within bounds: its words, its offsets and the order of its tokens. */
static int is_group_sound(const Side *side, int64_t group, int64_t begin, int64_t end) {
    int64_t words = side->word_from[group + 1] - side->word_from[group], first = side->entry_from[group];
    int64_t entries = side->entry_from[group + 1] - first;
    for (int64_t e = first; e < first + entries; e++)
        if (side->word[e] < 0 || side->word[e] >= words) return 0;
    for (int64_t t = side->token_from[begin]; t < side->token_from[end]; t++)
        if (side->order[t] < 0 || side->order[t] >= entries) return 0;
    return are_offsets(side->from + begin + group, end - begin, entries);
}

/* 1 if all indices of a side are within bounds.  group_from: groups + 1, checked before.  tokens: number of entries of
   `order`.  stems: number of stems.  size: number of entries of the table.  The lengths of arrays that depend on these
   were checked before. */
int32_t evidence_is_sound(
    int64_t groups, const int64_t *group_from, const Side *side, int64_t tokens, int64_t stems, int64_t size) {
    if (!are_offsets(side->token_from, side->segments, tokens)) return 0;
    if (!are_offsets(side->word_from, groups, side->words) || !are_offsets(side->entry_from, groups, side->entries)) return 0;
    for (int64_t g = 0; g < groups; g++)
        if (!is_group_sound(side, g, group_from[g], group_from[g + 1])) return 0;
    for (int64_t w = 0; w < side->words; w++) {
        if (side->stem[w] < 0 || side->stem[w] >= stems) return 0;
        int64_t row = side->row[side->stem[w]];
        if (row >= side->rows) return 0;
        if (row < 0) continue;
        int64_t from = side->table_from[row], to = side->table_from[row + 1];
        if (from < 0 || to < from || to > size) return 0;
    }
    return 1;
}
