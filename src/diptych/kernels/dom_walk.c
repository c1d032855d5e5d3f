/* The walk over the DOM of a page that finds its blocks and its tree; `page/blocks.py` is the reference.

   The tree belongs to the HTML parser and is read through the functions of the parser's C interface, which
   `dom_walk.py` looks up.  Which element is which, and what characters mean, comes from tables that Python
   makes.  Rare decisions are left to Python, through a callback.  A page that is unusual (nested deeply, with
   long names of elements, or with more elements than are read) is left to the reference as a whole: the walk
   then ends with a status.  The page is untrusted: every buffer grows with what is written to it. */
#include <setjmp.h>

#include "dom.h"

enum { WORD = 1, MAY_END = 2, MAY_BEGIN = 4, SPACE = 8, INVISIBLE = 16, UNPRINTABLE = 32, SEPARATOR = 64, STOP = 128 };
enum { MAX_NAME = 64, MAX_LEVELS = 4096, MAX_KINDS = 256 };
enum { BLOCK_LEVEL, INLINE, ANCHOR, TOP, CUSTOM, LINE_BREAK, RULE, IMAGE, AREA, INPUT, META, TITLE, SUPERSCRIPT, SKIPPED };
enum { EVENT_INLINE, EVENT_BLOCK, EVENT_LEAF, EVENT_TEXT, EVENT_CLOSE };
enum { ASK_GAP, ASK_MARK, ASK_SUPERSCRIPT };
enum { HIDDEN = 1, APART = 2 };

typedef struct {
    Parser parser;
    Bytes classes;       /* of CHARACTERS */
    Bytes roles;         /* of TAGS */
    const char *const *names; /* of TAGS; NULL for custom elements */
    int32_t (*ask)(int32_t question, Dom node, Bytes before, int64_t size); /* negative: stop */
    const uintptr_t *hidden; /* addresses of hidden elements, ascending */
    const int32_t *reasons;  /* for each, HIDDEN or APART */
    Bytes apart;             /* for each, a text to read apart, which a zero ends; empty if there is none */
    const int64_t *apart_at;
    int64_t hidden_count, head, max_path, max_elements, max_blocks, max_attribute, max_mark, max_tags, max_list;
    uint64_t seed;
} Page;

typedef struct { /* the first fields are the result */
    Buffer kinds, values, numbers, spelled, strings, hrefs, href_ids, texts, places, runs, tags;
    int64_t elements; /* whose paths are numbered */
    int64_t status;
    /* state */
    const Page *page;
    Buffer starts, slots, hashes, run, parts, asides, clean, frames, counts, path, waiting, targets;
    int32_t string_count, tag_count, left, next_uid, block, break_at, muted, has_title;
    int32_t first_link, first_link_element, link_list;
    jmp_buf end;
} Walk;

typedef struct {
    Dom node;
    uintptr_t tag;
    int32_t inner;  /* 1 if an inline element */
    int32_t is_hidden, element, uid, runs, checked, block, counts, path, events, spelled;
} Frame;

typedef struct { uintptr_t tag; int32_t count; } Count;
typedef struct { Dom node; uintptr_t tag; Span name; int32_t number; } Element;

static void stop(Walk *walk, int status) {
    walk->status = status;
    longjmp(walk->end, 1);
}

/* Makes room for more bytes at the end of a buffer, and returns where they begin. */
static void *more(Walk *walk, Buffer *buffer, int64_t size) {
    int status = DONE;
    void *at = grown(buffer, size, &status);
    if (!at) stop(walk, status);
    return at;
}

static void put(Walk *walk, Buffer *buffer, int32_t value) { *(int32_t *)more(walk, buffer, 4) = value; }

static void write(Walk *walk, Buffer *buffer, Span text) {
    if (text.size) memcpy(more(walk, buffer, text.size), text.at, (size_t)text.size);
}

/* The next character of a text; stops where the text is not valid UTF-8. */
static uint32_t character(Walk *walk, Bytes *at, Bytes end) {
    int32_t point = next_character(at, end);
    if (point < 0) stop(walk, UNUSUAL);
    return (uint32_t)point;
}

static int class_of(Walk *walk, uint32_t point) { return point < CHARACTERS ? walk->page->classes[point] : 0; }

static int first_class(Walk *walk, Span text) {
    Bytes at = text.at;
    return text.size ? class_of(walk, character(walk, &at, text.at + text.size)) : 0;
}

static int last_class(Walk *walk, Span text) {
    Bytes end = text.at + text.size, at = text.size ? last_character(text) : end;
    return text.size ? class_of(walk, character(walk, &at, end)) : 0;
}

static int64_t length(Span text) {
    int64_t count = 0;
    for (int64_t k = 0; k < text.size; k++) count += (text.at[k] & 0xc0) != 0x80;
    return count;
}

static int is_ascii(Span text) {
    for (int64_t k = 0; k < text.size; k++)
        if (text.at[k] >= 0x80) return 0;
    return 1;
}

static Span stripped(Walk *walk, Span text, int class) {
    Bytes end = text.at + text.size;
    while (text.at < end) {
        Bytes at = text.at;
        if (!(class_of(walk, character(walk, &at, end)) & class)) break;
        text.at = at;
    }
    text.size = end - text.at;
    while (text.size && last_class(walk, text) & class) text.size = last_character(text) - text.at;
    return text;
}

static int has_only(Walk *walk, Span text, int class) { return !stripped(walk, text, class).size; }

static int has_word(Walk *walk, Span text) {
    Bytes at = text.at, end = text.at + text.size;
    while (at < end)
        if (class_of(walk, character(walk, &at, end)) & WORD) return 1;
    return 0;
}

/* Collapses white space, and other characters of the class, to single blanks; removes invisible characters
   if unprintable ones count as white space.  The result is valid until the next call. */
static Span collapsed(Walk *walk, Span text, int class) {
    walk->clean.size = 0;
    uint8_t *out = more(walk, &walk->clean, text.size + 1), *to = out;
    Bytes at = text.at, end = text.at + text.size;
    int dropped = class & UNPRINTABLE ? INVISIBLE : 0, is_apart = 0;
    while (at < end) {
        Bytes from = at;
        int own = class_of(walk, character(walk, &at, end));
        if (own & dropped) continue;
        if (own & class) {
            is_apart = 1;
            continue;
        }
        if (is_apart && to > out) *to++ = ' ';
        is_apart = 0;
        while (from < at) *to++ = *from++;
    }
    return (Span){out, to - out};
}

static Span visible(Walk *walk, Span text) { return collapsed(walk, text, SPACE | UNPRINTABLE); }

/* The text of a block, which may have control characters if it is ASCII, as in the reference. */
static Span block_text(Walk *walk, Span text) {
    text = collapsed(walk, text, SPACE);
    return is_ascii(text) ? text : visible(walk, text); /* in place: the text does not grow */
}

/* Strings */

static uint64_t hash(uint64_t seed, Span text) {
    uint64_t sum = seed ^ (uint64_t)text.size * 0x9e3779b97f4a7c15u, word;
    for (int64_t k = 0; k < text.size; k += 8) {
        word = 0;
        memcpy(&word, text.at + k, (size_t)(text.size - k < 8 ? text.size - k : 8));
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    return (sum * 0xc4ceb9fe1a85ec53u) >> 16;
}

static void fill_slots(Walk *walk, int64_t slots) {
    walk->slots.size = 0;
    memset(more(walk, &walk->slots, 4 * slots), 0, (size_t)(4 * slots));
    int32_t *slot = (int32_t *)walk->slots.at;
    const uint64_t *hashes = (const uint64_t *)walk->hashes.at;
    for (int32_t id = 0; id < walk->string_count; id++) {
        int64_t k = (int64_t)(hashes[id] & (uint64_t)(slots - 1));
        while (slot[k]) k = (k + 1) & (slots - 1);
        slot[k] = id + 1;
    }
}

/* The number of a string; targets of links are strings apart, which Python resolves. */
static int32_t string_id(Walk *walk, Span text, int is_href) {
    Buffer *bytes = is_href ? &walk->hrefs : &walk->strings;
    int64_t slots = walk->slots.size / 4;
    if (2 * (int64_t)walk->string_count >= slots) fill_slots(walk, slots = slots ? 2 * slots : 256);
    uint64_t own = hash(walk->page->seed, text) << 1 | (uint64_t)is_href;
    int64_t k = (int64_t)(own & (uint64_t)(slots - 1));
    const int32_t *slot = (const int32_t *)walk->slots.at;
    for (; slot[k]; k = (k + 1) & (slots - 1)) {
        int32_t id = slot[k] - 1;
        if (((const uint64_t *)walk->hashes.at)[id] != own) continue;
        const int64_t *start = (const int64_t *)walk->starts.at + 2 * id;
        if (start[1] == text.size && !memcmp(bytes->at + start[0], text.at, (size_t)text.size)) return id;
    }
    int32_t id = walk->string_count;
    int64_t *start = more(walk, &walk->starts, 16);
    start[0] = bytes->size;
    start[1] = text.size;
    *(uint64_t *)more(walk, &walk->hashes, 8) = own;
    write(walk, bytes, text);
    *(uint8_t *)more(walk, bytes, 1) = is_href ? 0 : '\n';
    if (is_href) {
        /* its place among the strings stays empty */
        *(uint8_t *)more(walk, &walk->strings, 1) = '\n';
        put(walk, &walk->href_ids, id);
    }
    ((int32_t *)walk->slots.at)[k] = id + 1;
    walk->string_count++;
    return id;
}

/* The tree */

static void event(Walk *walk, int kind, int32_t value, int32_t number) {
    *(uint8_t *)more(walk, &walk->kinds, 1) = (uint8_t)kind;
    put(walk, &walk->values, value);
    put(walk, &walk->numbers, number);
}

static void open_event(Walk *walk, int kind, Span name, int32_t number) {
    event(walk, kind, string_id(walk, name, 0), number);
    walk->elements++;
}

static void text_event(Walk *walk, Span text, int32_t run) { event(walk, EVENT_TEXT, string_id(walk, text, 0), run); }

static void close_event(Walk *walk, Span href) {
    event(walk, EVENT_CLOSE, href.size ? string_id(walk, href, 1) : 0, 0);
}

/* Adds an element without elements; returns its number among the elements, or -1 if it is hidden. */
static int32_t add_leaf(Walk *walk, const Element *element, Span text, Span href) {
    if (walk->muted) return -1;
    int is_empty = !text.size && !href.size;
    open_event(walk, is_empty ? EVENT_LEAF : EVENT_BLOCK, element->name, element->number);
    if (text.size) text_event(walk, text, 0);
    if (!is_empty) close_event(walk, href);
    return (int32_t)walk->elements - 1;
}

static Frame *frames(Walk *walk) { return (Frame *)walk->frames.at; }
static Frame *block_of(Walk *walk) { return frames(walk) + walk->block; }
static Frame *top_of(Walk *walk) { return (Frame *)(walk->frames.at + walk->frames.size) - 1; }

/* Adds a block; the place is the number of an element or, if negative, that of a string: -1 - number. */
static void add_block(Walk *walk, Span text, int32_t place, int32_t run) {
    if (walk->texts.size / 4 >= walk->page->max_blocks) stop(walk, UNUSUAL);
    put(walk, &walk->texts, string_id(walk, text, 0));
    put(walk, &walk->places, place);
    put(walk, &walk->runs, run);
}

/* Attributes */

static Span attribute(Walk *walk, Dom node, const char *name) {
    const Parser *parser = &walk->page->parser;
    size_t size = strlen(name), own_size, value_size;
    for (Dom each = parser->first_attribute(node); each; each = parser->next_attribute(each)) {
        Bytes own = parser->attribute_name(each, &own_size);
        if (!own || own_size != size || memcmp(own, name, size)) continue;
        Bytes value = parser->attribute_value(each, &value_size);
        return value ? (Span){value, (int64_t)value_size} : NOTHING;
    }
    return NOTHING;
}

static int is_blank(Span text) {
    for (int64_t k = 0; k < text.size; k++)
        if (!memchr(" \t\n\f\r", text.at[k], 5)) return 0;
    return 1;
}

static int ask(Walk *walk, int question, Dom node, Span before) {
    int32_t answer = walk->page->ask(question, node, before.at, before.size);
    if (answer < 0) stop(walk, STOPPED);
    return answer;
}

/* Runs of inline content */

static int64_t part_count(const Walk *walk) { return walk->parts.size / 4; }

static void add_part(Walk *walk, Span text) {
    put(walk, &walk->parts, (int32_t)walk->run.size);
    write(walk, &walk->run, text);
}

/* The text of the run from a part on. */
static Span parts_from(Walk *walk, int64_t part) {
    int64_t start = part < part_count(walk) ? ((const int32_t *)walk->parts.at)[part] : walk->run.size;
    return (Span){walk->run.at + start, walk->run.size - start};
}

static Span last_text(Walk *walk) {
    int64_t part = part_count(walk) - 1;
    while (part > 0 && !parts_from(walk, part).size) part--;
    return parts_from(walk, part < 0 ? 0 : part);
}

/* Ends the run: adds its block, and the texts of its images.  The block is that of the open block-level
   element, unless the number of an element is given. */
static void flush(Walk *walk, int32_t element) {
    Frame *block = block_of(walk);
    Span text = {walk->run.at, walk->run.size};
    if (!walk->muted && text.size) {
        if (block->uid == walk->link_list) {
            /* Separators are removed before invisible characters, as in the reference. */
            Span own = stripped(walk, collapsed(walk, text, SPACE), SEPARATOR);
            walk->run.size = 0; /* the text is shorter than what was there */
            if (own.size) memmove(walk->run.at, own.at, (size_t)own.size);
            text.size = own.size;
        }
        Span clean = block_text(walk, text);
        if (has_word(walk, clean)) {
            int32_t run = element < 0 ? ++block->runs : 1;
            add_block(walk, clean, element < 0 ? block->element : element, run > 1 ? run : 0);
        }
    }
    const int32_t *aside = (const int32_t *)walk->asides.at, *end = aside + walk->asides.size / 4;
    for (; !walk->muted && aside < end; aside += 2) {
        if (walk->texts.size / 4 >= walk->page->max_blocks) stop(walk, UNUSUAL);
        put(walk, &walk->texts, aside[0]);
        put(walk, &walk->places, aside[1]);
        put(walk, &walk->runs, 0);
    }
    walk->run.size = walk->parts.size = walk->asides.size = 0;
    walk->break_at = -1;
}

static void flush_parts(Walk *walk) {
    if (part_count(walk)) flush(walk, -1);
}

static void add_text(Walk *walk, Dom node, Span text) {
    if (part_count(walk) && text.size && text.at[0] > ' ') {
        Span last = last_text(walk);
        if (last.size && last.at[last.size - 1] > ' ' && last_class(walk, last) & MAY_END &&
            first_class(walk, text) & MAY_BEGIN && ask(walk, ASK_GAP, node, last))
            add_part(walk, (Span){(Bytes) " ", 1});
    }
    add_part(walk, text);
    if (walk->muted) return;
    Span clean = visible(walk, text);
    int32_t runs = block_of(walk)->runs;
    if (clean.size) text_event(walk, clean, runs ? runs + 1 : 0);
}

/* Adds the text of an image or button as a block of its own; returns the clean text.  The element of the text
   must be added next. */
static Span add_aside(Walk *walk, Span text) {
    if (!text.size || length(text) > walk->page->max_attribute) return NOTHING;
    text = visible(walk, text);
    if (has_word(walk, text)) {
        put(walk, &walk->asides, string_id(walk, text, 0));
        put(walk, &walk->asides, (int32_t)walk->elements);
        add_part(walk, NOTHING);
    }
    return text;
}

/* Paths */

/* Writes the path of an element behind that of the open one; returns its length. */
static int64_t write_path(Walk *walk, const Element *element, int is_top) {
    char digits[16];
    int count = 0;
    for (int32_t number = element->number; number; number /= 10) digits[count++] = (char)('0' + number % 10);
    walk->path.size = top_of(walk)->path;
    write(walk, &walk->path, (Span){(Bytes) "/", 1});
    write(walk, &walk->path, element->name);
    if (!is_top || element->number > 1) {
        write(walk, &walk->path, (Span){(Bytes) "[", 1});
        while (count) write(walk, &walk->path, (Span){(Bytes)&digits[--count], 1});
        write(walk, &walk->path, (Span){(Bytes) "]", 1});
    }
    return walk->path.size;
}

/* True if the innermost open block-level element is a paragraph or heading with a number in its path. */
static int is_in_paragraph(Walk *walk) {
    Frame *block = block_of(walk);
    Bytes path = walk->path.at, at = path + block->path;
    if (at[-1] != ']') return 0;
    while (*--at != '[') {}
    Bytes name = at;
    while (*--name != '/') {}
    int64_t size = at - ++name;
    return (size == 1 && *name == 'p') || (size == 2 && *name == 'h' && name[1] >= '1' && name[1] <= '6');
}

static int is_in_heading(Walk *walk) {
    int64_t end = block_of(walk)->path, at = end > 7 ? end - 7 : 0;
    for (; at + 1 < end; at++)
        if (walk->path.at[at] == '/' && walk->path.at[at + 1] == 'h') return 1;
    return 0;
}

/* Elements */

static Frame *push(Walk *walk, const Element *element, int is_inline, int is_hidden, int64_t path) {
    if (walk->frames.size / (int64_t)sizeof(Frame) >= MAX_LEVELS || path >= walk->page->max_path) stop(walk, UNUSUAL);
    int32_t outer = walk->block, place = (int32_t)(walk->frames.size / (int64_t)sizeof(Frame));
    Frame *frame = more(walk, &walk->frames, sizeof(Frame));
    *frame = (Frame){.node = element->node, .tag = element->tag, .inner = is_inline, .is_hidden = is_hidden,
        .uid = walk->next_uid++, .block = outer, .counts = (int32_t)walk->counts.size, .path = (int32_t)path,
        .events = (int32_t)walk->kinds.size, .spelled = (int32_t)walk->spelled.size};
    walk->muted += is_hidden;
    frame->element = walk->muted ? -1 : (int32_t)walk->elements;
    if (!is_inline) walk->block = place;
    return frame;
}

/* Opens an element and puts it on the stack; an element without a number has its path spelled. */
static void open_element(Walk *walk, const Element *element, int is_inline, int is_hidden, int64_t path) {
    push(walk, element, is_inline, is_hidden, path);
    if (walk->muted) return;
    open_event(walk, is_inline ? EVENT_INLINE : EVENT_BLOCK, element->name, element->number);
    if (!element->number) put(walk, &walk->spelled, string_id(walk, (Span){walk->path.at, path}, 0));
}

static void close_element(Walk *walk) {
    Frame *frame = top_of(walk);
    if (!frame->inner) flush_parts(walk);
    if (!walk->muted && frame->tag == (uintptr_t)walk->page->head) {
        walk->kinds.size = frame->events;
        walk->values.size = walk->numbers.size = 4 * (int64_t)frame->events;
        walk->spelled.size = frame->spelled;
        walk->elements = frame->element;
    } else if (!walk->muted) {
        int is_link = frame->tag < TAGS && walk->page->roles[frame->tag] == ANCHOR;
        close_event(walk, is_link ? attribute(walk, frame->node, "href") : NOTHING);
    }
    walk->muted -= frame->is_hidden;
    walk->block = frame->block;
    walk->counts.size = frame->counts;
    walk->frames.size -= (int64_t)sizeof(Frame);
}

/* The place of a node in the list of hidden elements, or -1. */
static int64_t hidden_place(const Page *page, Dom node) {
    int64_t low = 0, high = page->hidden_count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (page->hidden[middle] < (uintptr_t)node) low = middle + 1;
        else high = middle;
    }
    return low < page->hidden_count && page->hidden[low] == (uintptr_t)node ? low : -1;
}

/* The readers of elements return 1 if they have opened the element, so that its children are read. */

static int read_box(Walk *walk, const Element *element, int is_top) {
    const Page *page = walk->page;
    flush_parts(walk);
    Dom inner = page->parser.first_child(element->node);
    Element own = *element;
    int64_t path = write_path(walk, element, is_top);
    if (is_top) own.number = 0;
    if (!inner) {
        if (add_leaf(walk, &own, NOTHING, NOTHING) >= 0 && is_top)
            put(walk, &walk->spelled, string_id(walk, (Span){walk->path.at, path}, 0));
        return 0;
    }
    int64_t place = hidden_place(page, element->node);
    int is_hidden = place >= 0 && page->reasons[place] != APART;
    int is_link = element->tag < TAGS && page->roles[element->tag] == ANCHOR;
    if (is_hidden || is_link || is_top || !is_text(&walk->page->parser, inner) || page->parser.next(inner)) {
        open_element(walk, &own, 0, is_hidden, path);
        return 1;
    }
    if (path >= page->max_path) stop(walk, UNUSUAL);
    if (walk->muted) return 0;
    Span text = text_of(&walk->page->parser, inner);
    int32_t at = add_leaf(walk, element, visible(walk, text), NOTHING);
    Span clean = block_text(walk, text);
    if (has_word(walk, clean)) add_block(walk, clean, at, 0);
    return 0;
}

static int read_inline(Walk *walk, const Element *element) {
    const Page *page = walk->page;
    if (!page->parser.first_child(element->node)) {
        add_leaf(walk, element, NOTHING, NOTHING);
        return 0;
    }
    int64_t place = hidden_place(page, element->node);
    if (place >= 0 && page->reasons[place] != APART) return 0;
    if (place >= 0 && page->apart[page->apart_at[place]]) {
        Bytes text = page->apart + page->apart_at[place];
        Span own = {text, (int64_t)strlen((const char *)text)};
        add_leaf(walk, element, add_aside(walk, own), NOTHING);
        return 0;
    }
    open_element(walk, element, 1, 0, write_path(walk, element, 0));
    return 1;
}

/* Leaves out a mark, and the white space between it and a punctuation mark. */
static void drop_mark(Walk *walk, const Element *element) {
    const Parser *parser = &walk->page->parser;
    Dom after = parser->next(element->node), parent = parser->parent(element->node);
    uintptr_t tag = parent ? parser->tag_id(parent) : 0;
    if (!after && tag && tag < TAGS && walk->page->roles[tag] == ANCHOR) after = parser->next(parent);
    if (part_count(walk) && is_text(&walk->page->parser, after) && first_class(walk, text_of(&walk->page->parser, after)) & STOP) {
        Span last = parts_from(walk, part_count(walk) - 1);
        while (last.size && last_class(walk, last) & SPACE) last.size = last_character(last) - last.at;
        walk->run.size = last.at - walk->run.at + last.size;
    }
    add_leaf(walk, element, NOTHING, NOTHING);
}

/* True if a link may be a heading anchor or a footnote mark; Python decides by its first text, its whole text and
   its attributes, which are given with a zero after each. */
static int is_mark(Walk *walk, const Element *element) {
    const Parser *parser = &walk->page->parser;
    Span href = attribute(walk, element->node, "href");
    if (!href.size || !memchr(href.at, '#', (size_t)href.size)) return 0;
    Dom inner = parser->first_child(element->node);
    Span text = text_of(parser, element->node), first = is_text(parser, inner) ? text_of(parser, inner) : NOTHING;
    if (length(text) > walk->page->max_mark || (!is_text(parser, inner) && !is_in_heading(walk))) return 0;
    Span all[] = {first, text, href, attribute(walk, element->node, "class"), attribute(walk, element->node, "role")};
    walk->clean.size = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        write(walk, &walk->clean, all[k]);
        *(uint8_t *)more(walk, &walk->clean, 1) = 0;
    }
    return ask(walk, ASK_MARK, element->node, (Span){walk->clean.at, walk->clean.size});
}

static int follows_link(Walk *walk, const Element *element) {
    const Parser *parser = &walk->page->parser;
    Dom before = parser->prev(element->node);
    if (!before || parser->tag_id(before) != element->tag) return 0;
    Span one = attribute(walk, before, "href"), other = attribute(walk, element->node, "href");
    /* An attribute that is missing or has no value differs from one that is empty. */
    return (one.at == NOTHING.at) != (other.at == NOTHING.at) || one.size != other.size ||
           (one.size && memcmp(one.at, other.at, (size_t)one.size));
}

/* Lists of links; `page/link_lists.py` is the reference */

static int role_of(Walk *walk, Dom node) {
    uintptr_t tag = walk->page->parser.tag_id(node);
    return tag < TAGS ? walk->page->roles[tag] : CUSTOM;
}

static int is_block_level(int role) { return role == BLOCK_LEVEL || role == TOP || role == CUSTOM || role == RULE; }

static int is_paragraph(Walk *walk, Dom node) {
    uintptr_t tag = walk->page->parser.tag_id(node);
    const char *name = tag < TAGS ? walk->page->names[tag] : NULL;
    if (!name) return 0;
    return !strcmp(name, "p") || (name[0] == 'h' && name[1] >= '1' && name[1] <= '6' && !name[2]);
}

/* The first node in the block-level element around a node. */
static Dom first_of_block(Walk *walk, Dom node) {
    const Parser *parser = &walk->page->parser;
    Dom above = parser->parent(node), custom = NULL;
    for (; above && parser->type(above) == ELEMENT; above = parser->parent(above)) {
        size_t size = 0;
        int role = role_of(walk, above);
        if (is_block_level(role) && role != CUSTOM) break;
        if (role != CUSTOM || custom) continue;
        Bytes name = parser->element_name(above, &size);
        if (name && memchr(name, '-', size)) custom = above;
    }
    if (above && parser->type(above) != ELEMENT) above = NULL;
    if (custom && !(above && is_paragraph(walk, above))) above = custom;
    Dom first = above ? parser->first_child(above) : NULL;
    return first ? first : node;
}

/* True if there is one of the signs between two breadcrumbs. */
static int has_arrow(Span text) {
    static const char *const arrows[] = {"/", "|", ">", "\xc2\xbb", "\xe2\x80\xba", "\xe2\x86\x92"};
    for (size_t k = 0; k < sizeof arrows / sizeof *arrows; k++) {
        int64_t size = (int64_t)strlen(arrows[k]);
        for (int64_t at = 0; at + size <= text.size; at++)
            if (!memcmp(text.at + at, arrows[k], (size_t)size)) return 1;
    }
    return 0;
}

/* Adds the target of a link to those of a list; returns 0 if it has none, or a known one. */
static int add_target(Walk *walk, Dom link) {
    Span own = attribute(walk, link, "href");
    const Span *known = (const Span *)walk->targets.at, *end = known + walk->targets.size / (int64_t)sizeof own;
    for (; known < end; known++)
        if (known->size == own.size && !memcmp(known->at, own.at, (size_t)own.size)) return 0;
    if (own.size) *(Span *)more(walk, &walk->targets, sizeof own) = own;
    return own.size != 0;
}

typedef struct { int is_after_arrow, has_end; } List;

/* True if a list of links may have this text between its links, or as its end. */
static int is_text_of_list(Walk *walk, List *list, Span text) {
    Span rest = stripped(walk, text, SEPARATOR), lead = {text.at, rest.at - text.at};
    if (!rest.size) {
        list->is_after_arrow |= has_arrow(text);
        return 1;
    }
    int is_end = list->is_after_arrow || (last_class(walk, lead) & SPACE && has_arrow(lead));
    list->has_end |= walk->targets.size && is_end;
    return list->has_end;
}

/* True if the block of a link consists of several links, with nothing but separators between. */
static int is_in_link_list(Walk *walk, Dom link) {
    const Parser *parser = &walk->page->parser;
    List list = {0, 0};
    walk->targets.size = walk->waiting.size = 0;
    *(Dom *)more(walk, &walk->waiting, sizeof(Dom)) = first_of_block(walk, link);
    for (int64_t left = walk->page->max_list; walk->waiting.size; left--) {
        if (!left) return 0;
        Dom node = *(Dom *)(walk->waiting.at + (walk->waiting.size -= (int64_t)sizeof(Dom)));
        if (!node) continue;
        *(Dom *)more(walk, &walk->waiting, sizeof(Dom)) = parser->next(node);
        int role = role_of(walk, node);
        if (is_text(&walk->page->parser, node)) {
            if (!is_text_of_list(walk, &list, text_of(&walk->page->parser, node))) return 0;
        } else if (role == ANCHOR) {
            if (list.has_end || !add_target(walk, node)) return 0;
            list.is_after_arrow = 0;
        } else if (is_block_level(role)) return 0;
        else if (role == INLINE || role == SUPERSCRIPT)
            *(Dom *)more(walk, &walk->waiting, sizeof(Dom)) = parser->first_child(node);
    }
    return walk->targets.size > (int64_t)sizeof(Span);
}

/* At the second link of a block, finds out if the block is a list of links. */
static void check_list(Walk *walk, const Element *element) {
    Frame *block = block_of(walk);
    walk->first_link = -1;
    if (!block->checked && is_in_link_list(walk, element->node)) {
        if (walk->first_link_element < 0 && !walk->muted) stop(walk, UNUSUAL);
        walk->link_list = block->uid;
        flush(walk, walk->first_link_element);
    }
    block->checked = 1;
}

static int read_anchor(Walk *walk, const Element *element) {
    int32_t block = block_of(walk)->uid;
    int is_first = !part_count(walk);
    if (is_first) {
        walk->first_link = block;
        walk->first_link_element = -1;
    } else if (walk->first_link == block) check_list(walk, element);
    if (block == walk->link_list) return read_box(walk, element, 0);
    int64_t before = walk->elements;
    int is_open = 0;
    if (walk->page->parser.first_child(element->node) && is_mark(walk, element)) drop_mark(walk, element);
    else {
        if (!is_first && follows_link(walk, element)) add_part(walk, (Span){(Bytes) " ", 1});
        is_open = read_inline(walk, element);
    }
    if (is_first && walk->elements > before) walk->first_link_element = (int32_t)before;
    return is_open;
}

static int read_superscript(Walk *walk, const Element *element) {
    if (!walk->page->parser.first_child(element->node) || !ask(walk, ASK_SUPERSCRIPT, element->node, NOTHING))
        return read_inline(walk, element);
    drop_mark(walk, element);
    return 0;
}

static int read_custom(Walk *walk, const Element *element) {
    int is_custom = element->name.size && memchr(element->name.at, '-', (size_t)element->name.size);
    return is_custom && !is_in_paragraph(walk) ? read_box(walk, element, 0) : read_inline(walk, element);
}

static void read_line_break(Walk *walk, const Element *element) {
    if (walk->break_at >= 0 && has_only(walk, parts_from(walk, walk->break_at), SPACE)) flush(walk, -1);
    else {
        add_part(walk, (Span){(Bytes) " ", 1});
        walk->break_at = (int32_t)part_count(walk);
    }
    add_leaf(walk, element, NOTHING, NOTHING);
}

static void read_input(Walk *walk, const Element *element) {
    Span type = attribute(walk, element->node, "type"), label = NOTHING;
    if (is_named(type, "submit") || is_named(type, "button") || is_named(type, "reset") || is_named(type, "image")) {
        label = attribute(walk, element->node, "value");
        if (!label.size) label = attribute(walk, element->node, "alt");
        label = add_aside(walk, label);
    }
    add_leaf(walk, element, label, NOTHING);
}

static void read_area(Walk *walk, const Element *element) {
    Span alt = add_aside(walk, attribute(walk, element->node, "alt")), href = attribute(walk, element->node, "href");
    add_leaf(walk, element, alt, href.size && href.at[0] != '#' ? href : NOTHING);
}

static void read_meta(Walk *walk, const Element *element) {
    if (!is_named(attribute(walk, element->node, "name"), "description")) return;
    Span content = stripped(walk, attribute(walk, element->node, "content"), SPACE);
    Span text = visible(walk, first_characters(content, walk->page->max_attribute));
    if (!has_word(walk, text)) return;
    int64_t path = write_path(walk, element, 0);
    int32_t own = string_id(walk, text, 0), place = string_id(walk, (Span){walk->path.at, path}, 0);
    put(walk, &walk->texts, own);
    put(walk, &walk->places, -1 - place);
    put(walk, &walk->runs, 0);
}

static void read_title(Walk *walk, const Element *element) {
    static const char path[] = "/html/head/title";
    Dom inner = walk->page->parser.first_child(element->node);
    if (walk->has_title) return;
    walk->has_title = 1;
    if (!inner) return;
    if (!is_text(&walk->page->parser, inner) || walk->page->parser.next(inner)) stop(walk, UNUSUAL);
    Span title = visible(walk, first_characters(text_of(&walk->page->parser, inner), walk->page->max_attribute));
    if (!title.size) return;
    put(walk, &walk->texts, string_id(walk, title, 0));
    put(walk, &walk->places, -1 - string_id(walk, (Span){(Bytes)path, sizeof path - 1}, 0));
    put(walk, &walk->runs, 0);
}

static int read_element(Walk *walk, int role, const Element *element) {
    switch (role) {
    case BLOCK_LEVEL: return read_box(walk, element, 0);
    case INLINE: return read_inline(walk, element);
    case ANCHOR: return read_anchor(walk, element);
    case TOP: return read_box(walk, element, 1);
    case CUSTOM: return read_custom(walk, element);
    case SUPERSCRIPT: return read_superscript(walk, element);
    case LINE_BREAK: read_line_break(walk, element); break;
    case IMAGE: add_leaf(walk, element, add_aside(walk, attribute(walk, element->node, "alt")), NOTHING); break;
    case AREA: read_area(walk, element); break;
    case INPUT: read_input(walk, element); break;
    case META: read_meta(walk, element); break;
    case TITLE: read_title(walk, element); break;
    default: /* RULE */
        flush_parts(walk);
        add_leaf(walk, element, NOTHING, NOTHING);
    }
    return 0;
}

/* The number of an element among its siblings with the same name. */
static int32_t number_of(Walk *walk, uintptr_t tag) {
    Count *count = (Count *)(walk->counts.at + top_of(walk)->counts), *end = (Count *)(walk->counts.at + walk->counts.size);
    if (end - count > MAX_KINDS) stop(walk, UNUSUAL);
    for (; count < end; count++)
        if (count->tag == tag) return ++count->count;
    *(Count *)more(walk, &walk->counts, sizeof(Count)) = (Count){tag, 1};
    return 1;
}

static void add_tag(Walk *walk, uintptr_t tag, int is_end) {
    if (walk->tags.size / 2 >= walk->page->max_tags) return;
    *(uint16_t *)more(walk, &walk->tags, 2) = (uint16_t)((tag && tag < TAGS ? tag : 1) + (is_end ? 256 : 0));
}

static Span name_of(Walk *walk, Dom node, uintptr_t tag) {
    const char *known = tag < TAGS ? walk->page->names[tag] : NULL;
    if (known) return (Span){(Bytes)known, (int64_t)strlen(known)};
    size_t size = 0;
    if (walk->page->parser.type(node) != ELEMENT) stop(walk, UNUSUAL);
    Bytes name = walk->page->parser.element_name(node, &size);
    if (!name || !size || size > MAX_NAME || !is_ascii((Span){name, (int64_t)size}) || memchr(name, '\n', size))
        stop(walk, UNUSUAL);
    return (Span){name, (int64_t)size};
}

/* Reads a node; returns 1 if it was opened. */
static int read_node(Walk *walk, Dom node) {
    uintptr_t tag = walk->page->parser.tag_id(node);
    int is_head = top_of(walk)->tag == (uintptr_t)walk->page->head;
    if (tag == TEXT) {
        Span text = text_of(&walk->page->parser, node);
        if (!part_count(walk) && is_blank(text)) return 0;
        if (is_head) stop(walk, UNUSUAL);
        add_text(walk, node, text);
        return 0;
    }
    int role = tag < TAGS ? walk->page->roles[tag] : CUSTOM;
    if (role == SKIPPED) return 0;
    if (!walk->left-- || (is_head && role != META && role != TITLE)) stop(walk, UNUSUAL);
    add_tag(walk, tag, 0);
    Element element = {node, tag, name_of(walk, node, tag), number_of(walk, tag)};
    if (read_element(walk, role, &element)) return 1;
    add_tag(walk, tag, 1);
    return 0;
}

static void read_page(Walk *walk, Dom root) {
    const Parser *parser = &walk->page->parser;
    string_id(walk, NOTHING, 0);
    write(walk, &walk->path, (Span){(Bytes) "/html", 5});
    open_element(walk, &(Element){root, parser->tag_id(root), {(Bytes) "html", 4}, 0}, 0, 0, 5);
    Dom node = parser->first_child(root);
    for (;;) {
        while (node) {
            if (read_node(walk, node)) node = parser->first_child(node);
            else node = parser->next(node);
        }
        Frame closed = *top_of(walk);
        close_element(walk);
        if (!walk->frames.size) return;
        add_tag(walk, closed.tag, 1);
        node = parser->next(closed.node);
    }
}

/* Blocks whose paths are strings come after the elements. */
static void number_places(Walk *walk) {
    int32_t *place = (int32_t *)walk->places.at, *end = place + walk->places.size / 4;
    for (; place < end; place++)
        if (*place < 0) *place = (int32_t)walk->elements - 1 - *place;
}

/* Frees what a walk has allocated. */
void dom_walk_free(Walk *walk) {
    Buffer *all[] = {&walk->kinds, &walk->values, &walk->numbers, &walk->spelled, &walk->strings, &walk->hrefs,
        &walk->href_ids, &walk->texts, &walk->places, &walk->runs, &walk->tags, &walk->starts, &walk->slots,
        &walk->hashes, &walk->run, &walk->parts, &walk->asides, &walk->clean, &walk->frames, &walk->counts, &walk->path,
        &walk->waiting, &walk->targets};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]->at);
    free(walk);
}

/* Walks over a page and returns the result, which must be freed; NULL if memory is exhausted. */
Walk *dom_walk(const Page *page, Dom root) {
    Walk *walk = calloc(1, sizeof *walk);
    if (!walk) return NULL;
    walk->page = page;
    walk->left = (int32_t)page->max_elements;
    walk->break_at = walk->first_link = walk->link_list = -1;
    if (!setjmp(walk->end)) {
        read_page(walk, root);
        number_places(walk);
    }
    return walk;
}
