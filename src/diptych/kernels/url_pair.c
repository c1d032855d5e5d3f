/* Features of a pair of URLs, for the URL pair model: what they have in common and how they differ.
 *
 * `learn/url/pair_features.py` is the reference implementation; tests compare the two feature by
 * feature.  URLs are decoded, in lower case and without scheme; words are bytes.  All arrays have
 * fixed sizes; both implementations ignore any further items.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LABELS 16
#define MAX_SEGMENTS 24
#define MAX_TOKENS 64
#define MAX_MARKS 24
#define MAX_PARAMS 24
#define MAX_WORDS 12
#define SENSES 3
#define PREFIX 5
#define NO_LANG (-1)
#define LONE 0.37f

typedef struct { const uint8_t *at; int len; } Span;
typedef struct { Span word; int digit, lang, kind, strength, field, segment; } Token;
typedef struct { int lang, strength, field, segment, kind; } Mark;
typedef struct { Span name, value; int is_lang; } Param;
typedef struct {
    Span labels[MAX_LABELS]; int n_labels;
    Span segments[MAX_SEGMENTS]; int n_segments;
    Token tokens[MAX_TOKENS]; int n_tokens;
    Mark marks[MAX_MARKS]; int n_marks;
    Param params[MAX_PARAMS]; int n_params;
    Span extension;
    int slash, odd, end;
} Url;

/* Sorted fingerprints, for lookup by binary search. */
typedef struct { const uint32_t *keys; const int16_t *langs; const uint8_t *kinds; int n; } MarkTable;
typedef struct { const uint32_t *keys; int n; } WordSet;
/* Sorted fingerprints, and for each value of their upper 16 bits the index of the first one. */
typedef struct {
    const uint32_t *keys; const uint16_t *ids; const uint8_t *scores; const int32_t *starts;
} ConceptTable;
typedef struct { MarkTable marks; WordSet params, extensions, indexes; ConceptTable concepts; } Tables;

static uint32_t fingerprint(const uint8_t *word, int len, int star) {
    uint64_t value = 0xCBF29CE484222325ULL;
    for (int i = 0; i < len; i++) value = (value ^ word[i]) * 0x100000001B3ULL;
    if (star) value = (value ^ '*') * 0x100000001B3ULL;
    return (uint32_t)(value >> 32 ^ value);
}

static int find(const uint32_t *keys, int n, uint32_t key) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[middle] < key) low = middle + 1; else high = middle;
    }
    return low < n && keys[low] == key ? low : -1;
}

static int is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || c >= 0x80; }
static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static int is_word(uint8_t c) { return is_letter(c) || is_digit(c); }
static int same(Span a, Span b) { return a.len == b.len && (!a.len || !memcmp(a.at, b.at, (size_t)a.len)); }
static int has(const WordSet *set, Span word) {
    return word.len && find(set->keys, set->n, fingerprint(word.at, word.len, 0)) >= 0;
}

static int is_region(Span word) {
    static const char *scripts[] = {"hans", "hant", "latn", "cyrl"};
    if (word.len == 2) return is_letter(word.at[0]) && word.at[0] < 0x80 && is_letter(word.at[1]) && word.at[1] < 0x80;
    for (int i = 0; i < 4; i++)
        if (word.len == 4 && !memcmp(word.at, scripts[i], 4)) return 1;
    return 0;
}

/* Finds the next run of letters or digits from *at; returns its length, or 0 at the end. */
static int next_token(const uint8_t *text, int len, int *at, Span *word) {
    while (*at < len && !is_word(text[*at])) ++*at;
    int start = *at;
    if (start >= len) return 0;
    int digit = is_digit(text[start]);
    while (*at < len && (digit ? is_digit(text[*at]) : is_letter(text[*at]))) ++*at;
    word->at = text + start;
    word->len = *at - start;
    return 1;
}

static int mark_of(const Tables *tables, Span word) {
    if (!word.len || !is_letter(word.at[0])) return -1;
    return find(tables->marks.keys, tables->marks.n, fingerprint(word.at, word.len, 0));
}

static void add_mark(Url *url, int lang, int strength, int field, int segment, int kind) {
    if (url->n_marks < MAX_MARKS)
        url->marks[url->n_marks++] = (Mark){lang, strength, field, segment, kind};
}

static void read_host(Url *url, const uint8_t *text, int len, const Tables *tables) {
    int start = 0;
    for (int i = 0; i <= len && url->n_labels < MAX_LABELS; i++) {
        if (i < len && text[i] != '.') continue;
        Span label = {text + start, i - start};
        start = i + 1;
        if (i < len && !url->n_labels && start == 4 && !memcmp(text, "www", 3)) continue;
        url->labels[url->n_labels++] = label;
    }
    for (int i = 0; i + 2 < url->n_labels; i++) {
        int mark = mark_of(tables, url->labels[i]);
        if (mark >= 0) add_mark(url, tables->marks.langs[mark], 3, 0, i, tables->marks.kinds[mark]);
    }
}

/* The mark of a segment that consists of a mark (`fr`, `fr-ca`, `ca-fr`), or -1. */
static int whole_mark(const Tables *tables, Span segment, const Span *words, int n) {
    if (n < 1 || n > 2 || words[0].at != segment.at) return -1;
    if (words[n - 1].at + words[n - 1].len != segment.at + segment.len) return -1;
    int first = mark_of(tables, words[0]);
    if (n == 1) return first;
    if (words[1].at != words[0].at + words[0].len + 1) return -1;
    if (first >= 0 && is_region(words[1])) return first;
    int second = mark_of(tables, words[1]);
    return words[0].len == 2 && words[1].len == 2 && second >= 0 && !tables->marks.kinds[second] ? second : -1;
}

static void read_segment(Url *url, Span segment, int last, const Tables *tables) {
    Span words[MAX_TOKENS];
    int n = 0, at = 0;
    while (n < MAX_TOKENS && next_token(segment.at, segment.len, &at, &words[n])) n++;
    if (last && n && words[n - 1].at > segment.at && words[n - 1].at[-1] == '.' && has(&tables->extensions, words[n - 1])) {
        url->extension = words[--n];
        segment.len = (int)(url->extension.at - 1 - segment.at);
    }
    if (last && n == 1 && words[0].len == segment.len && has(&tables->indexes, words[0])) return;
    int field = last ? 2 : 1, mark = whole_mark(tables, segment, words, n);
    if (mark >= 0) {
        add_mark(url, tables->marks.langs[mark], 3, field, url->n_segments, tables->marks.kinds[mark]);
        return;
    }
    if (!segment.len || url->n_segments >= MAX_SEGMENTS) return;
    for (int i = 0; i < n && url->n_tokens < MAX_TOKENS; i++) {
        Token token = {words[i], is_digit(words[i].at[0]), NO_LANG, 0, 0, field, url->n_segments};
        mark = mark_of(tables, words[i]);
        if (mark >= 0) {
            token.lang = tables->marks.langs[mark];
            token.kind = tables->marks.kinds[mark];
            token.strength = n == 1 ? 3 : i == 0 || i == n - 1 ? 2 : 1;
            add_mark(url, token.lang, token.strength, field, url->n_segments, token.kind);
        }
        url->tokens[url->n_tokens++] = token;
    }
    url->segments[url->n_segments++] = segment;
}

static void read_path(Url *url, const uint8_t *text, int len, const Tables *tables) {
    int start = 0, stop = len;
    while (stop > 0 && text[stop - 1] == '/') stop--;
    for (int i = 0; i <= stop; i++) {
        if (i < stop && text[i] != '/') continue;
        if (i > start) read_segment(url, (Span){text + start, i - start}, i == stop, tables);
        start = i + 1;
    }
    url->slash = !len || text[len - 1] == '/';
    url->end = url->slash ? 0 : is_word(text[len - 1]) ? 1 : 2;
}

static void read_param(Url *url, Span param, const Tables *tables) {
    if (url->n_params >= MAX_PARAMS) return;
    const uint8_t *equals = memchr(param.at, '=', (size_t)param.len);
    int cut = equals ? (int)(equals - param.at) : param.len;
    Param read = {{param.at, cut}, {param.at + cut, 0}, 0};
    if (equals) read.value = (Span){equals + 1, param.len - cut - 1};
    Span words[MAX_TOKENS];
    int n = 0, at = 0;
    while (n < MAX_TOKENS && next_token(read.value.at, read.value.len, &at, &words[n])) n++;
    int mark = n == 1 || (n == 2 && is_region(words[1])) ? mark_of(tables, words[0]) : -1;
    int named = has(&tables->params, read.name);
    if (named || (mark >= 0 && tables->marks.kinds[mark] <= 1)) {
        /* A value that does not name a language counts as a separate language: `Lang=1`. */
        int lang = mark >= 0 ? tables->marks.langs[mark] : 1000 + (int)(fingerprint(read.value.at, read.value.len, 0) & 0x3fff);
        add_mark(url, lang, named ? 4 : 3, 3, 0, mark >= 0 ? tables->marks.kinds[mark] : 9);
        read.is_lang = 1;
    } else {
        for (int i = 0; i < n && url->n_tokens < MAX_TOKENS; i++) {
            Token token = {words[i], is_digit(words[i].at[0]), NO_LANG, 0, 0, 3, 99};
            mark = mark_of(tables, words[i]);
            if (mark >= 0) {
                token.lang = tables->marks.langs[mark];
                token.kind = tables->marks.kinds[mark];
                token.strength = 1;
            }
            url->tokens[url->n_tokens++] = token;
        }
    }
    url->params[url->n_params++] = read;
}

static void read_url(Url *url, const uint8_t *text, int len, const Tables *tables) {
    memset(url, 0, sizeof *url);
    int host = 0, query;
    while (host < len && text[host] != '/' && text[host] != '?') host++;
    for (query = host; query < len && text[query] != '?'; query++) {}
    int port = 0;
    while (port < host && text[port] != ':') port++;
    read_host(url, text, port, tables);
    int path = host < query ? host + 1 : host;
    read_path(url, text + path, query - path, tables);
    for (int i = path; i + 1 < len; i++) url->odd += !is_word(text[i]) && !is_word(text[i + 1]);
    for (int start = query + 1, i = start; i <= len; i++) {
        if (i < len && text[i] != '&') continue;
        read_param(url, (Span){text + start, i - start}, tables);
        start = i + 1;
    }
}

/* ---- two URLs ---- */

typedef struct { int16_t *counts; } Scratch; /* one counter for each pair of bytes, all zero */

static float dice(Span a, Span b, Scratch *scratch) {
    if (same(a, b)) return 1;
    if (a.len < 2 || b.len < 2) return 0;
    int common = 0;
    for (int i = 0; i + 1 < a.len; i++) scratch->counts[a.at[i] << 8 | a.at[i + 1]]++;
    for (int i = 0; i + 1 < b.len; i++) {
        int16_t *count = &scratch->counts[b.at[i] << 8 | b.at[i + 1]];
        if (*count > 0) { --*count; common++; }
    }
    for (int i = 0; i + 1 < a.len; i++) scratch->counts[a.at[i] << 8 | a.at[i + 1]] = 0;
    return 2.0f * common / (a.len + b.len - 2);
}

/* The row of a fingerprint, or -1 if there is none or it has no score. */
static int64_t concept_of(const ConceptTable *table, uint32_t key) {
    int32_t start = table->starts[key >> 16];
    int place = find(table->keys + start, table->starts[(key >> 16) + 1] - start, key);
    return place >= 0 && table->scores[(size_t)(start + place) * SENSES] ? start + place : -1;
}

/* The size in bytes of a word's first letters; a letter begins with any byte but 10xxxxxx. */
static int first_letters(Span word) {
    int letters = 0, at = 0;
    for (; at < word.len; at++)
        if ((word.at[at] & 0xc0) != 0x80 && ++letters > PREFIX) break;
    return at;
}

static int64_t meaning(const ConceptTable *table, Span word) {
    int64_t place = concept_of(table, fingerprint(word.at, word.len, 0));
    if (place < 0) {
        int start = first_letters(word);
        if (start < word.len) place = concept_of(table, fingerprint(word.at, start, 1));
    }
    return place;
}

static float shared(const ConceptTable *table, int64_t a, int64_t b) {
    int best = 0;
    if (a < 0 || b < 0) return 0;
    for (int i = 0; i < SENSES; i++)
        for (int j = 0; j < SENSES; j++) {
            int one = table->scores[a * SENSES + i], other = table->scores[b * SENSES + j];
            int least = one < other ? one : other;
            if (least > best && table->ids[a * SENSES + i] == table->ids[b * SENSES + j]) best = least;
        }
    return best / 255.0f;
}

typedef struct { const Token *tokens[MAX_WORDS]; int64_t senses[MAX_WORDS]; int n; } Words;

static void add_word(Words *words, const Token *token) {
    if (words->n < MAX_WORDS) words->tokens[words->n++] = token;
}

/* Mean of the best matches of the words of one side on the other, weighted by length; -1 for none. */
static void best_matches(const float *likeness, const Words *a, const Words *b, float *one, float *other, int *lone) {
    float sum = 0, weight = 0;
    lone[0] = lone[1] = 0;
    for (int i = 0; i < a->n; i++) {
        float best = 0;
        for (int j = 0; j < b->n; j++) if (likeness[i * MAX_WORDS + j] > best) best = likeness[i * MAX_WORDS + j];
        lone[0] += best < LONE;
        sum += best * (float)a->tokens[i]->word.len;
        weight += (float)a->tokens[i]->word.len;
    }
    *one = weight ? sum / weight : -1;
    sum = weight = 0;
    for (int j = 0; j < b->n; j++) {
        float best = 0;
        for (int i = 0; i < a->n; i++) if (likeness[i * MAX_WORDS + j] > best) best = likeness[i * MAX_WORDS + j];
        lone[1] += best < LONE;
        sum += best * (float)b->tokens[j]->word.len;
        weight += (float)b->tokens[j]->word.len;
    }
    *other = weight ? sum / weight : -1;
}

static float *put(float *out, float value) { *out = value; return out + 1; }
static float *put_two(float *out, float a, float b) {
    out[0] = a < b ? a : b;
    out[1] = a < b ? b : a;
    return out + 2;
}
static float agree(int any, int same) { return any ? same ? 1 : -1 : 0; }

static int is_marked_label(const Tables *tables, Span label) { return mark_of(tables, label) >= 0; }

static float *host_features(float *out, const Url *a, const Url *b, const Tables *tables) {
    int equal = a->n_labels == b->n_labels;
    for (int i = 0; equal && i < a->n_labels; i++) equal = same(a->labels[i], b->labels[i]);
    int core = 1, i = 0, j = 0;
    for (;;) {
        while (i + 1 < a->n_labels && is_marked_label(tables, a->labels[i])) i++;
        while (j + 1 < b->n_labels && is_marked_label(tables, b->labels[j])) j++;
        int more_a = i + 1 < a->n_labels, more_b = j + 1 < b->n_labels;
        if (!more_a || !more_b) { core = more_a == more_b; break; }
        if (!same(a->labels[i++], b->labels[j++])) { core = 0; break; }
    }
    Span nothing = {(const uint8_t *)"", 0}, long_a = nothing, long_b = nothing;
    for (i = 0; i < a->n_labels; i++) if (a->labels[i].len > long_a.len) long_a = a->labels[i];
    for (j = 0; j < b->n_labels; j++) if (b->labels[j].len > long_b.len) long_b = b->labels[j];
    out = put(out, (float)equal);
    out = put(out, (float)core);
    out = put(out, (float)(a->n_labels && b->n_labels && same(a->labels[a->n_labels - 1], b->labels[b->n_labels - 1])));
    return put(out, (float)same(long_a, long_b));
}

static const Mark *main_mark(const Url *url) {
    const Mark *best = NULL;
    for (int i = 0; i < url->n_marks; i++) {
        const Mark *mark = &url->marks[i];
        if (!best || mark->strength > best->strength || (mark->strength == best->strength && mark->kind < best->kind)) best = mark;
    }
    return best;
}

static float *mark_features(float *out, const Url *a, const Url *b) {
    const Mark *one = main_mark(a), *other = main_mark(b);
    int strong_a = 0, strong_b = 0, shared_lang = 0;
    for (int i = 0; i < a->n_marks; i++) strong_a += a->marks[i].strength >= 3;
    for (int j = 0; j < b->n_marks; j++) strong_b += b->marks[j].strength >= 3;
    for (int i = 0; i < a->n_marks; i++)
        for (int j = 0; j < b->n_marks; j++)
            shared_lang |= a->marks[i].strength >= 3 && b->marks[j].strength >= 3 && a->marks[i].lang == b->marks[j].lang;
    out = put_two(out, one ? (float)one->strength : 0, other ? (float)other->strength : 0);
    out = put_two(out, one ? (float)one->kind : -1, other ? (float)other->kind : -1);
    out = put(out, agree(strong_a && strong_b, !shared_lang));
    out = put(out, agree(one && other, one && other && one->lang != other->lang));
    out = put(out, agree(one && other, one && other && one->field == other->field && one->segment == other->segment));
    return put_two(out, (float)strong_a, (float)strong_b);
}

typedef struct {
    Words words_a, words_b, last_a, last_b;
    int words[2], digits[2], marks[2], chars[2], mark_langs[2];
    int common_words, common_digits, common_chars, common_longest, common_late, differing_longest;
    const Token *number_a, *number_b;
} Difference;

static void differing(Difference *d, const Token *token, int side, const Url *url) {
    if (token->digit) {
        d->digits[side]++;
        if (token->word.len > d->differing_longest) d->differing_longest = token->word.len;
        if (side) d->number_b = token; else d->number_a = token;
    } else if (token->lang != NO_LANG && token->strength >= 2) {
        if (!d->marks[side]++) d->mark_langs[side] = token->lang;
    } else {
        d->words[side]++;
        d->chars[side] += token->word.len;
        add_word(side ? &d->words_b : &d->words_a, token);
        if (token->segment == url->n_segments - 1) add_word(side ? &d->last_b : &d->last_a, token);
    }
}

static void difference(Difference *d, const Url *a, const Url *b) {
    uint8_t taken[MAX_TOKENS] = {0};
    memset(d, 0, sizeof *d);
    for (int j = 0; j < b->n_tokens; j++) {
        int i = 0;
        while (i < a->n_tokens && (taken[i] || !same(a->tokens[i].word, b->tokens[j].word))) i++;
        if (i == a->n_tokens) { differing(d, &b->tokens[j], 1, b); continue; }
        taken[i] = 1;
        const Token *token = &b->tokens[j];
        if (token->digit) {
            d->common_digits++;
            if (token->word.len > d->common_longest) d->common_longest = token->word.len;
            int late = token->field >= 2 && a->tokens[i].field >= 2;
            if (late && token->word.len > d->common_late) d->common_late = token->word.len;
        } else {
            d->common_words++;
            d->common_chars += token->word.len;
        }
    }
    for (int i = 0; i < a->n_tokens; i++) if (!taken[i]) differing(d, &a->tokens[i], 0, a);
}

static float number_distance(const Token *a, const Token *b) {
    if (!a || !b || a->word.len > 15 || b->word.len > 15) return -1;
    int64_t one = 0, other = 0;
    for (int i = 0; i < a->word.len; i++) one = one * 10 + (a->word.at[i] - '0');
    for (int i = 0; i < b->word.len; i++) other = other * 10 + (b->word.at[i] - '0');
    return (float)log1p((double)(one > other ? one - other : other - one));
}

/* 1 if two URLs are the same except for hosts and strong marks. */
static int same_rest(const Url *a, const Url *b) {
    if (a->n_segments != b->n_segments) return 0;
    for (int i = 0; i < a->n_segments; i++) if (!same(a->segments[i], b->segments[i])) return 0;
    int i = 0, j = 0;
    for (;;) {
        while (i < a->n_params && a->params[i].is_lang) i++;
        while (j < b->n_params && b->params[j].is_lang) j++;
        if (i >= a->n_params || j >= b->n_params) return i >= a->n_params && j >= b->n_params;
        if (!same(a->params[i].name, b->params[j].name) || !same(a->params[i].value, b->params[j].value)) return 0;
        i++; j++;
    }
}

static float *token_features(float *out, const Difference *d, const Url *a, const Url *b) {
    int most = d->chars[0] > d->chars[1] ? d->chars[0] : d->chars[1];
    int least = d->chars[0] < d->chars[1] ? d->chars[0] : d->chars[1];
    out = put_two(out, (float)a->n_tokens, (float)b->n_tokens);
    out = put(out, (float)d->common_words);
    out = put(out, (float)d->common_digits);
    out = put_two(out, (float)d->words[0], (float)d->words[1]);
    out = put(out, (float)abs(d->words[0] - d->words[1]));
    out = put_two(out, (float)d->digits[0], (float)d->digits[1]);
    out = put_two(out, (float)d->marks[0], (float)d->marks[1]);
    out = put(out, agree(d->marks[0] && d->marks[1], d->mark_langs[0] != d->mark_langs[1]));
    out = put(out, (float)d->common_chars);
    out = put_two(out, (float)d->chars[0], (float)d->chars[1]);
    out = put(out, d->common_chars + most ? (float)d->common_chars / (float)(d->common_chars + most) : 1);
    out = put(out, most ? (float)least / (float)most : 1);
    out = put(out, (float)same_rest(a, b));
    out = put(out, (float)!(d->words[0] || d->words[1] || d->digits[0] || d->digits[1]));
    out = put(out, (float)d->common_longest);
    out = put(out, (float)d->differing_longest);
    out = put(out, (float)d->common_late);
    return put(out, number_distance(d->number_a, d->number_b));
}

static int word_count(const Url *url, int segment) {
    int words = 0;
    for (int i = 0; i < url->n_tokens; i++) words += url->tokens[i].segment == segment && !url->tokens[i].digit;
    return words;
}

static int contains(Span span, char c) { return span.len && memchr(span.at, c, (size_t)span.len) != NULL; }

static float *last_features(float *out, const Url *a, const Url *b, Scratch *scratch) {
    Span nothing = {(const uint8_t *)"", 0};
    Span one = a->n_segments ? a->segments[a->n_segments - 1] : nothing;
    Span other = b->n_segments ? b->segments[b->n_segments - 1] : nothing;
    int words_a = word_count(a, a->n_segments - 1), words_b = word_count(b, b->n_segments - 1);
    int most = one.len > other.len ? one.len : other.len, least = one.len < other.len ? one.len : other.len;
    out = put(out, (float)same(one, other));
    out = put(out, agree(a->extension.len || b->extension.len, same(a->extension, b->extension)));
    out = put_two(out, a->extension.len > 0, b->extension.len > 0);
    out = put(out, (float)(a->slash == b->slash));
    out = put(out, (float)(contains(one, '-') == contains(other, '-') && contains(one, '_') == contains(other, '_')));
    out = put_two(out, (float)words_a, (float)words_b);
    out = put(out, (float)abs(words_a - words_b));
    out = put(out, (float)least / (float)(most ? most : 1));
    return put(out, dice(one, other, scratch));
}

/* The text from the start of the first segment to the end of the last, including marks between them. */
static Span whole_path(const Url *url) {
    Span nothing = {(const uint8_t *)"", 0};
    if (!url->n_segments) return nothing;
    Span first = url->segments[0], last = url->segments[url->n_segments - 1];
    return (Span){first.at, (int)(last.at + last.len - first.at)};
}

static float *structure_features(float *out, const Url *a, const Url *b, Scratch *scratch) {
    int least = a->n_segments < b->n_segments ? a->n_segments : b->n_segments;
    int most = a->n_segments > b->n_segments ? a->n_segments : b->n_segments, prefix = 0, equal = 0;
    while (prefix < least && same(a->segments[prefix], b->segments[prefix])) prefix++;
    for (int i = 0; i < least; i++) equal += same(a->segments[i], b->segments[i]);
    out = put(out, (float)(most - least));
    out = put(out, (float)most);
    out = put(out, (float)prefix);
    out = put(out, (float)equal);
    out = put(out, (float)(most - equal));
    out = last_features(out, a, b, scratch);
    out = put(out, dice(whole_path(a), whole_path(b), scratch));
    int names = a->n_params == b->n_params, values = 1, any = 0;
    for (int i = 0; names && i < a->n_params; i++) names = same(a->params[i].name, b->params[i].name);
    int i = 0, j = 0;
    for (;;) {
        while (i < a->n_params && a->params[i].is_lang) i++;
        while (j < b->n_params && b->params[j].is_lang) j++;
        if (i < a->n_params || j < b->n_params) any = 1;
        if (i >= a->n_params || j >= b->n_params) { values = values && i >= a->n_params && j >= b->n_params; break; }
        values = values && same(a->params[i].value, b->params[j].value);
        i++; j++;
    }
    out = put(out, agree(a->n_params || b->n_params, names));
    out = put_two(out, (float)a->n_params, (float)b->n_params);
    out = put(out, agree(any, values));
    out = put_two(out, (float)a->odd, (float)b->odd);
    out = put(out, (float)abs(a->odd - b->odd));
    return put_two(out, (float)a->end, (float)b->end);
}

static float known(const Words *words) {
    int found = 0;
    for (int i = 0; i < words->n; i++) found += words->senses[i] >= 0;
    return words->n ? (float)found / (float)words->n : -1;
}

static void look_up(Words *words, const ConceptTable *table) {
    for (int i = 0; i < words->n; i++) words->senses[i] = meaning(table, words->tokens[i]->word);
}

static float *meaning_features(float *out, Words *a, Words *b, const Tables *tables, Scratch *scratch, int cognates) {
    float alike[MAX_WORDS * MAX_WORDS], sense[MAX_WORDS * MAX_WORDS], one, other;
    int lone[2];
    look_up(a, &tables->concepts);
    look_up(b, &tables->concepts);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            float cognate = dice(a->tokens[i]->word, b->tokens[j]->word, scratch);
            float means = shared(&tables->concepts, a->senses[i], b->senses[j]);
            alike[i * MAX_WORDS + j] = cognate;
            sense[i * MAX_WORDS + j] = means > 0.8f * cognate ? means : 0.8f * cognate;
        }
    if (cognates) {
        best_matches(alike, a, b, &one, &other, lone);
        out = put_two(out, one, other);
    }
    best_matches(sense, a, b, &one, &other, lone);
    out = put_two(out, one, other);
    out = put_two(out, (float)lone[0], (float)lone[1]);
    return cognates ? put_two(out, known(a), known(b)) : out;
}

/* Features of n pairs of URLs.  `offsets` delimits the URLs in `text`; a pair is two URL indices. */
void url_pair_features(
    const uint8_t *text, const int64_t *offsets, const int32_t *lefts, const int32_t *rights, int64_t n,
    const uint32_t *mark_keys, const int16_t *mark_langs, const uint8_t *mark_kinds, int32_t n_marks,
    const uint32_t *params, int32_t n_params, const uint32_t *extensions, int32_t n_extensions,
    const uint32_t *indexes, int32_t n_indexes, const uint32_t *concept_keys, const uint16_t *concept_ids,
    const uint8_t *concept_scores, const int32_t *concept_starts, float *out, int32_t width) {
    Tables tables = {{mark_keys, mark_langs, mark_kinds, n_marks}, {params, n_params}, {extensions, n_extensions},
                     {indexes, n_indexes}, {concept_keys, concept_ids, concept_scores, concept_starts}};
    Scratch scratch = {calloc(65536, sizeof(int16_t))};
    Url *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    Difference *d = malloc(sizeof *d);
    if (scratch.counts && a && b && d) {
        for (int64_t i = 0; i < n; i++) {
            int64_t left = lefts[i], right = rights[i];
            /* Consecutive candidates often have the same left URL, which is then parsed once. */
            if (!i || lefts[i - 1] != left)
                read_url(a, text + offsets[left], (int)(offsets[left + 1] - offsets[left]), &tables);
            read_url(b, text + offsets[right], (int)(offsets[right + 1] - offsets[right]), &tables);
            float *at = out + i * width;
            difference(d, a, b);
            at = host_features(at, a, b, &tables);
            at = mark_features(at, a, b);
            at = token_features(at, d, a, b);
            at = structure_features(at, a, b, &scratch);
            at = meaning_features(at, &d->words_a, &d->words_b, &tables, &scratch, 1);
            meaning_features(at, &d->last_a, &d->last_b, &tables, &scratch, 0);
        }
    }
    free(scratch.counts);
    free(a);
    free(b);
    free(d);
}
