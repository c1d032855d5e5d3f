/* URL language model: features, probabilities, and one pass of training.
 * `url_lang_reference.py` is the reference implementation. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

#define MAX_FEATURES 4096
#define MAX_POINTS 40 /* code points of a word that n-grams are taken from */
#define MAX_WHOLE 32  /* bytes of a segment that is a feature as a whole */
#define MAX_KINDS 512 /* of facts */

enum {
    TLD, SECOND, NAME, NAME_PART, SUB, SUB_PART, DIR_FIRST, DIR, DIR_PART, FILE_WHOLE, FILE_FIRST,
    FILE_LAST, FILE_PART, EXTENSION, PARAMETER, VALUE_LANG, VALUE, VALUE_PART, ASSIGNED, WORD, GRAM,
    SCRIPT, SHAPE, HOST_GRAM, LOCALE_LEFT, LOCALE_RIGHT
};

#define IS_GRAM 0x80000000u /* bit that marks n-grams, which have no facts */

typedef struct {
    const uint8_t *text;
    uint32_t *out;
    int count;
} Url;

static uint32_t start(uint32_t kind) { return (2166136261u ^ (kind + 1)) * 16777619u; }

static uint32_t step(uint32_t hash, uint8_t byte) { return (hash ^ byte) * 16777619u; }

static void emit(Url *url, uint32_t hash, uint32_t gram) {
    if (url->count >= MAX_FEATURES) return;
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    hash ^= hash >> 12;
    hash *= 0x297a2d39u;
    hash ^= hash >> 15;
    url->out[url->count++] = (hash & ~IS_GRAM) | gram;
}

/* ASCII letters are compared in lower case; `_` counts as `-`. */
static uint8_t at(const Url *url, int place) {
    uint8_t byte = url->text[place];
    if (byte >= 'A' && byte <= 'Z') return byte + 32;
    return byte == '_' ? '-' : byte;
}

static int is_letter(uint8_t byte) { return (byte >= 'a' && byte <= 'z') || byte >= 0x80; }

static int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static void emit_text(Url *url, uint32_t kind, int from, int to) {
    uint32_t hash = start(kind);
    for (int i = from; i < to; i++) hash = step(hash, at(url, i));
    emit(url, hash, 0);
}

static uint32_t point_at(const Url *url, int place, int to) {
    uint8_t lead = url->text[place];
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    uint32_t point = more == 3 ? lead & 7u : more == 2 ? lead & 15u : more == 1 ? lead & 31u : lead;
    for (int i = 1; i <= more && place + i < to; i++)
        point = point << 6 | (url->text[place + i] & 63u);
    return point;
}

/* The block of 128 code points that contains the first non-Latin letter; one feature per URL. */
static void emit_script(Url *url, int from, int to) {
    for (int i = from; i < to; i++) {
        if (url->text[i] < 0xC0) continue;
        uint32_t point = point_at(url, i, to);
        if (point < 0x250) continue;
        if (point >= 0x3400 && point < 0xA000) point = 0x4E00;
        if (point >= 0xAC00 && point < 0xD800) point = 0xAC00;
        uint32_t hash = start(SCRIPT);
        hash = step(hash, (uint8_t)(point >> 7));
        emit(url, step(hash, (uint8_t)(point >> 15)), 0);
        return;
    }
}

/* The n-grams of 2 to 5 code points of a word between `<` and `>`; unigrams beyond U+07FF. */
static void emit_grams(Url *url, uint32_t kind, int from, int to) {
    int places[MAX_POINTS + 3], points = 0;
    places[points++] = from - 1;
    for (int i = from; i < to && points <= MAX_POINTS; i++)
        if ((url->text[i] & 0xC0) != 0x80) places[points++] = i;
    int end = to;
    if (points > MAX_POINTS)
        for (end = places[points - 1] + 1; end < to && (url->text[end] & 0xC0) == 0x80;) end++;
    places[points++] = end;
    places[points] = end + 1;
    for (int i = 0; i < points - 1; i++) {
        uint32_t hash = start(kind);
        for (int n = 1; n <= 5 && i + n <= points; n++) {
            int place = places[i + n - 1];
            if (place < from) hash = step(hash, '<');
            else if (place >= end) hash = step(hash, '>');
            else
                for (int j = place; j < places[i + n]; j++) hash = step(hash, at(url, j));
            if (n >= 2 || (place >= from && url->text[place] >= 0xE0)) emit(url, hash, IS_GRAM);
        }
    }
}

static int word_end(const Url *url, int from, int to) {
    while (from < to && is_letter(at(url, from))) from++;
    return from;
}

static int next_word(const Url *url, int from, int to) {
    while (from < to && !is_letter(at(url, from))) from++;
    return from;
}

static int has_digit(const Url *url, int from, int to) {
    for (int i = from; i < to; i++)
        if (is_digit(url->text[i])) return 1;
    return 0;
}

static int is_last(const Url *url, int from, int to) { return next_word(url, from, to) >= to; }

/* Both halves of a locale (en-us, zh_hant) as separate features. */
static void emit_locale(Url *url, int from, int to) {
    int middle = word_end(url, from, to), left = middle - from, right = to - middle - 1;
    if (left < 2 || left > 3 || right < 2 || right > 4 || at(url, middle) != '-') return;
    if (word_end(url, middle + 1, to) < to) return;
    emit_text(url, LOCALE_LEFT, from, middle);
    emit_text(url, LOCALE_RIGHT, middle + 1, to);
}

/* A whole segment, then its words. */
static void segment(Url *url, int from, int to, uint32_t whole, uint32_t first, uint32_t part,
                    uint32_t last, uint32_t grams) {
    if (from >= to) return;
    if (to - from <= MAX_WHOLE && (whole == VALUE_LANG || !has_digit(url, from, to)))
        emit_text(url, whole, from, to);
    emit_locale(url, from, to);
    int place = next_word(url, from, to), is_first = 1;
    while (place < to) {
        int end = word_end(url, place, to);
        if (end - place < to - from) {
            uint32_t kind = is_first ? first : is_last(url, end, to) ? last : part;
            if (end - place <= MAX_WHOLE) emit_text(url, kind, place, end);
        }
        if (end - place <= MAX_WHOLE) emit_text(url, WORD, place, end);
        emit_grams(url, grams, place, end);
        is_first = 0;
        place = next_word(url, end, to);
    }
}

static int previous_dot(const Url *url, int from, int to) {
    while (to > from && url->text[to - 1] != '.') to--;
    return to; /* after the dot, or at the start */
}

/* 1 for a short label before a country code: co.uk, com.br */
static int is_second(const Url *url, int from, int to, int tld_length) {
    (void)url;
    return tld_length == 2 && to - from >= 2 && to - from <= 3;
}

static void host(Url *url, int from, int to) {
    int tld = previous_dot(url, from, to);
    emit_text(url, TLD, tld, to);
    int end = tld > from ? tld - 1 : from, name = previous_dot(url, from, end);
    if (name > from && is_second(url, name, end, to - tld)) {
        emit_text(url, SECOND, name, to);
        end = name - 1;
        name = previous_dot(url, from, end);
    }
    segment(url, name, end, NAME, NAME_PART, NAME_PART, NAME_PART, HOST_GRAM);
    while (name > from) {
        end = name - 1;
        name = previous_dot(url, from, end);
        segment(url, name, end, SUB, SUB_PART, SUB_PART, SUB_PART, HOST_GRAM);
    }
}

static void file(Url *url, int from, int to) {
    int dot = previous_dot(url, from, to);
    if (dot > from && to - dot >= 1 && to - dot <= 5) {
        emit_text(url, EXTENSION, dot, to);
        to = dot - 1;
    }
    segment(url, from, to, FILE_WHOLE, FILE_FIRST, FILE_PART, FILE_LAST, GRAM);
}

static int path(Url *url, int from, int to) {
    int depth = 0;
    for (int i = from; i < to; i++) {
        if (url->text[i] != '/') continue;
        segment(url, from, i, depth ? DIR : DIR_FIRST, DIR_PART, DIR_PART, DIR_PART, GRAM);
        depth += i > from;
        from = i + 1;
    }
    file(url, from, to);
    return (depth < 3 ? depth : 3) | (from < to ? 4 : 0);
}

static int holds(const Url *url, int from, int to, const char *word) {
    int length = (int)strlen(word);
    for (int i = from; i + length <= to; i++) {
        int j = 0;
        while (j < length && at(url, i + j) == (uint8_t)word[j]) j++;
        if (j == length) return 1;
    }
    return 0;
}

static int says_language(const Url *url, int from, int to) {
    static const char *const parts[] = {"lang", "lng", "locale", "idiom", "lingua", "sprache",
                                        "jezik", "kieli", "culture"};
    static const char *const words[] = {"l", "hl", "lg", "ln", "lan", "loc", "la"};
    for (int i = 0; i < 9; i++)
        if (holds(url, from, to, parts[i])) return 1;
    for (int i = 0; i < 7; i++)
        if ((int)strlen(words[i]) == to - from && holds(url, from, to, words[i])) return 1;
    return 0;
}

static void parameter(Url *url, int from, int to) {
    int equals = from;
    while (equals < to && url->text[equals] != '=') equals++;
    if (equals - from <= MAX_WHOLE) emit_text(url, PARAMETER, from, equals);
    if (equals >= to) return;
    if (to - from <= MAX_WHOLE) emit_text(url, ASSIGNED, from, to);
    uint32_t whole = says_language(url, from, equals) ? VALUE_LANG : VALUE;
    segment(url, equals + 1, to, whole, VALUE_PART, VALUE_PART, VALUE_PART, GRAM);
}

static void query(Url *url, int from, int to) {
    for (int i = from; i <= to; i++) {
        if (i < to && url->text[i] != '&' && url->text[i] != ';') continue;
        if (i > from) parameter(url, from, i);
        from = i + 1;
    }
}

/* The offset of the host, after http:// or https://; 0 for any other text. */
static int behind_scheme(const Url *url, int to) {
    static const char *const schemes[] = {"http://", "https://"};
    for (int i = 0; i < 2; i++) {
        int length = (int)strlen(schemes[i]);
        if (to > length && holds(url, 0, length, schemes[i])) return length;
    }
    return 0;
}

static int find(const Url *url, int from, int to, const char *any) {
    while (from < to && !(url->text[from] && strchr(any, url->text[from]))) from++;
    return from;
}

/* Writes the features of a URL; returns their number, or -1 unless it is an http(s) URL. */
static int features(const uint8_t *text, int length, uint32_t *out, int *host_end) {
    Url url = {text, out, 0};
    int from = behind_scheme(&url, length);
    if (!from) return -1;
    int to = find(&url, from, length, "#"), end = find(&url, from, to, "/?");
    int port = find(&url, from, end, ":"), asked = find(&url, end, to, "?");
    if (port == from) return -1;
    host(&url, from, port);
    *host_end = url.count;
    int shape = path(&url, end < asked ? end + 1 : end, asked);
    if (asked < to) query(&url, asked + 1, to);
    emit_script(&url, from, to);
    emit(&url, step(start(SHAPE), (uint8_t)(shape | (asked < to ? 8 : 0))), 0);
    return url.count;
}

/* `Tables` of url_lang.py, with the fields in the same order. */
typedef struct {
    int32_t labels, width, rows, slots_mask;
    const float *out;          /* labels x width */
    const float *bias;         /* labels */
    const int8_t *table;       /* rows x width */
    const float *scale;        /* rows */
    const uint32_t *slot_key;  /* slots: a feature, 0 for none */
    const int32_t *slot_entry; /* slots: the entry of the feature; the first entries have a row */
    const int32_t *entry_from; /* entries + 1: index of the first fact of each entry */
    const uint16_t *fact_label, *fact_kind;
    const float *fact_value;
    const float *kinds; /* weight of each kind of fact */
    const float *gates; /* logarithm of the factor by which each kind of fact reduces the weight of words */
} Tables;

static int entry_of(const Tables *tables, uint32_t feature) {
    for (uint32_t slot = feature & tables->slots_mask;; slot = (slot + 1) & tables->slots_mask) {
        if (!tables->slot_key[slot]) return -1;
        if (tables->slot_key[slot] == feature) return tables->slot_entry[slot];
    }
}

/* Replaces features by their entries; drops unknown features. */
static int known(const Tables *tables, uint32_t *found, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (i + 12 < count) {
            __builtin_prefetch(tables->slot_key + (found[i + 12] & tables->slots_mask));
            __builtin_prefetch(tables->slot_entry + (found[i + 12] & tables->slots_mask));
        }
        int entry = entry_of(tables, found[i]);
        if (entry >= 0) found[kept++] = (uint32_t)entry;
    }
    return kept;
}

static void add_facts(const Tables *tables, const uint32_t *entries, int count, float *logits) {
    for (int i = 0; i < count; i++)
        for (int j = tables->entry_from[entries[i]]; j < tables->entry_from[entries[i] + 1]; j++)
            logits[tables->fact_label[j]] +=
                tables->kinds[tables->fact_kind[j]] * tables->fact_value[j];
}

/* The distinct kinds of facts among the entries. */
static int kinds_of(const Tables *tables, const uint32_t *entries, int count, uint16_t *kinds) {
    uint8_t seen[MAX_KINDS] = {0};
    int found = 0;
    for (int i = 0; i < count; i++)
        for (int j = tables->entry_from[entries[i]]; j < tables->entry_from[entries[i] + 1]; j++) {
            uint16_t kind = tables->fact_kind[j];
            if (!seen[kind]) kinds[found++] = kind;
            seen[kind] = 1;
        }
    return found;
}

/* The factor of the sum of the rows, which decreases with the number of facts. */
static float size_of(const Tables *tables, const uint32_t *entries, int count) {
    uint16_t kinds[MAX_KINDS];
    int rows = 0, found = kinds_of(tables, entries, count, kinds);
    float gate = 0;
    for (int i = 0; i < found; i++) gate += tables->gates[kinds[i]];
    for (int i = 0; i < count; i++) rows += entries[i] < (uint32_t)tables->rows;
    return rows ? expf(-gate) / sqrtf((float)rows) : 0;
}

CLONES static void project(const float *restrict out, const float *restrict hidden, long labels,
                           long width, float *restrict logits) {
    for (long i = 0; i < labels; i++) {
        const float *row = out + i * width;
        float p[8] = {0};
        for (long j = 0; j < width; j += 8) {
            const float *left = row + j, *right = hidden + j;
            for (long k = 0; k < 8; k++) p[k] += left[k] * right[k];
        }
        logits[i] += ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
    }
}

static void softmax(float *logits, int labels) {
    float most = logits[0], sum = 0;
    for (int i = 1; i < labels; i++) most = logits[i] > most ? logits[i] : most;
    for (int i = 0; i < labels; i++) sum += logits[i] = expf(logits[i] - most);
    for (int i = 0; i < labels; i++) logits[i] /= sum;
}

CLONES static void gather(const Tables *restrict tables, const uint32_t *restrict entries,
                          int count, float *restrict hidden) {
    long width = tables->width;
    uint32_t rows = (uint32_t)tables->rows;
    for (int i = 0; i < count; i++) {
        if (i + 12 < count && entries[i + 12] < rows) {
            const int8_t *ahead = tables->table + (long)entries[i + 12] * width;
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + width - 1);
            __builtin_prefetch(tables->scale + entries[i + 12]);
        }
        if (entries[i] >= rows) continue;
        const int8_t *values = tables->table + (long)entries[i] * width;
        float scale = tables->scale[entries[i]];
        for (long j = 0; j < width; j++) hidden[j] += scale * values[j];
    }
}

void url_lang_features(const uint8_t *text, const int64_t *offsets, int32_t number, uint32_t *out,
                       int32_t *counts) {
    for (int i = 0; i < number; i++) {
        int host_end = 0;
        counts[i] = features(text + offsets[i], (int)(offsets[i + 1] - offsets[i]),
                             out + (long)i * MAX_FEATURES, &host_end);
    }
}

/* Counts the domains of each feature, in a table indexed by the low bits of features.  URLs must be
 * sorted by domain; `last` holds the last domain with each feature, or -1. */
void url_lang_count(const uint8_t *text, const int64_t *offsets, const int32_t *domain,
                    int32_t number, uint32_t mask, int32_t *last, uint16_t *domains,
                    uint32_t *feature) {
    uint32_t found[MAX_FEATURES];
    for (int i = 0; i < number; i++) {
        int host_end = 0;
        int count = features(text + offsets[i], (int)(offsets[i + 1] - offsets[i]), found, &host_end);
        for (int j = 0; j < count; j++) {
            uint32_t slot = found[j] & mask;
            while (feature[slot] && feature[slot] != found[j]) slot = (slot + 1) & mask;
            feature[slot] = found[j];
            if (last[slot] == domain[i]) continue;
            last[slot] = domain[i];
            if (domains[slot] < 65535) domains[slot]++;
        }
    }
}

#define MAX_WIDTH 256

/* Rows of probabilities; an invalid URL has the first label, the unknown language. */
void url_lang_probabilities(const Tables *tables, const uint8_t *text, const int64_t *offsets,
                            int32_t number, float *out) {
    uint32_t found[MAX_FEATURES];
    for (int i = 0; i < number; i++) {
        int host_end = 0;
        float *row = out + (long)i * tables->labels, hidden[MAX_WIDTH] = {0};
        int count = features(text + offsets[i], (int)(offsets[i + 1] - offsets[i]), found, &host_end);
        memset(row, 0, sizeof(float) * tables->labels);
        row[0] = 1;
        if (count < 0) continue;
        count = known(tables, found, count);
        gather(tables, found, count, hidden);
        float size = size_of(tables, found, count);
        for (int j = 0; j < tables->width; j++) hidden[j] *= size;
        memcpy(row, tables->bias, sizeof(float) * tables->labels);
        project(tables->out, hidden, tables->labels, tables->width, row);
        add_facts(tables, found, count, row);
        softmax(row, tables->labels);
    }
}

/* `Learning` of url_lang.py, with the fields in the same order. */
typedef struct {
    float *rows;   /* rows x width: the table before rounding */
    float *out, *bias, *kinds, *gates;
    float *rows_seen, *out_seen, *kinds_seen, *gates_seen; /* Adagrad: sums of squared gradients */
    uint64_t state;
    float rate, drop, drop_host;
    int32_t facts_only; /* 1 if the table and the output layer are not trained */
} Learning;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int chance(uint64_t *state, float share) {
    return (float)(next_random(state) >> 40) * (1.0f / 16777216.0f) < share;
}

/* Dropout: removes some features, and sometimes the whole host name. */
static int thin(Learning *learning, uint32_t *found, int count, int host_end) {
    int kept = 0, hide = chance(&learning->state, learning->drop_host);
    for (int i = 0; i < count; i++) {
        if (hide && i > 0 && i < host_end) continue;
        if (!chance(&learning->state, learning->drop)) found[kept++] = found[i];
    }
    return kept;
}

CLONES static float forward(const Tables *tables, const Learning *learning, const uint32_t *found,
                            int count, float *hidden, float *logits) {
    long width = tables->width;
    memset(hidden, 0, sizeof(float) * width);
    for (int i = 0; i < count; i++) {
        if (found[i] >= (uint32_t)tables->rows) continue;
        const float *row = learning->rows + (long)found[i] * width;
        for (long j = 0; j < width; j++) hidden[j] += row[j];
    }
    float size = size_of(tables, found, count);
    for (long j = 0; j < width; j++) hidden[j] *= size;
    memcpy(logits, learning->bias, sizeof(float) * tables->labels);
    project(learning->out, hidden, tables->labels, width, logits);
    add_facts(tables, found, count, logits);
    softmax(logits, tables->labels);
    return size;
}

static float scaled(float *seen, float square, float rate) {
    *seen += square;
    return rate / sqrtf(*seen + 1e-6f);
}

/* Updates the output layer and computes the gradient of the hidden layer. */
CLONES static void learn_out(const Tables *tables, Learning *learning, const float *gradient,
                             const float *hidden, float *back) {
    long width = tables->width;
    float square = 0;
    for (long j = 0; j < width; j++) square += hidden[j] * hidden[j];
    memset(back, 0, sizeof(float) * width);
    for (int i = 0; i < tables->labels; i++) {
        float g = gradient[i], *row = learning->out + (long)i * width;
        if (g > -1e-5f && g < 1e-5f) continue;
        if (learning->facts_only) {
            for (long j = 0; j < width; j++) back[j] += g * row[j];
            continue;
        }
        float rate = scaled(&learning->out_seen[i], g * g * (square + 1) / (width + 1), learning->rate);
        for (long j = 0; j < width; j++) {
            back[j] += g * row[j];
            row[j] -= rate * g * hidden[j];
        }
        learning->bias[i] -= rate * g;
    }
}

CLONES static void learn_rows(const Tables *tables, Learning *learning, const uint32_t *found,
                              int count, const float *back, float size) {
    long width = tables->width;
    float square = 0;
    for (long j = 0; j < width; j++) square += back[j] * back[j];
    square *= size * size / width;
    for (int i = 0; i < count; i++) {
        long number = found[i];
        if (number >= tables->rows) continue;
        float *row = learning->rows + number * width;
        float rate = scaled(&learning->rows_seen[number], square, learning->rate);
        for (long j = 0; j < width; j++) row[j] -= rate * size * back[j];
    }
}

static void learn_facts(const Tables *tables, Learning *learning, const uint32_t *found, int count,
                        const float *gradient) {
    for (int i = 0; i < count; i++) {
        for (int j = tables->entry_from[found[i]]; j < tables->entry_from[found[i] + 1]; j++) {
            int kind = tables->fact_kind[j];
            float g = gradient[tables->fact_label[j]] * tables->fact_value[j];
            learning->kinds[kind] -= scaled(&learning->kinds_seen[kind], g * g, learning->rate) * g;
        }
    }
}

static void learn_gates(const Tables *tables, Learning *learning, const uint32_t *found, int count,
                        const float *hidden, const float *back) {
    uint16_t kinds[MAX_KINDS];
    int present = kinds_of(tables, found, count, kinds);
    float g = 0;
    for (int j = 0; j < tables->width; j++) g -= hidden[j] * back[j];
    for (int i = 0; i < present; i++) {
        float rate = scaled(&learning->gates_seen[kinds[i]], g * g, learning->rate);
        learning->gates[kinds[i]] -= rate * g;
    }
}

/* Trains for one pass over the URLs in the given order; returns the mean loss. */
double url_lang_epoch(const Tables *tables, Learning *learning, const uint8_t *text,
                      const int64_t *offsets, const int32_t *order, const int32_t *truth,
                      const float *weight, int32_t number, float rate_from, float rate_to) {
    uint32_t found[MAX_FEATURES];
    float hidden[MAX_WIDTH], back[MAX_WIDTH], logits[1024];
    double loss = 0, total = 0;
    for (int n = 0; n < number; n++) {
        int i = order[n], host_end = 0;
        int count = features(text + offsets[i], (int)(offsets[i + 1] - offsets[i]), found, &host_end);
        if (count > 0) count = thin(learning, found, count, host_end);
        if (count > 0) count = known(tables, found, count);
        if (count <= 0) continue;
        learning->rate = rate_from + (rate_to - rate_from) * (float)n / (float)number;
        float size = forward(tables, learning, found, count, hidden, logits);
        loss -= weight[i] * log(logits[truth[i]] + 1e-12);
        total += weight[i];
        logits[truth[i]] -= 1;
        for (int j = 0; j < tables->labels; j++) logits[j] *= weight[i];
        learn_out(tables, learning, logits, hidden, back);
        if (!learning->facts_only) learn_rows(tables, learning, found, count, back, size);
        learn_facts(tables, learning, found, count, logits);
        learn_gates(tables, learning, found, count, hidden, back);
    }
    return total > 0 ? loss / total : 0;
}
