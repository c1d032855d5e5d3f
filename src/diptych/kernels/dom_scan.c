/* One pass over the DOM of a page that finds its texts, links, images, meta elements and hidden elements.

   The reference are the functions of `page/` that search with selectors.  As there, elements that are not read
   (scripts, drawings) are as if they were not part of the page, except where a comment says otherwise.  The tree
   belongs to the HTML parser and is read through the functions of the parser's C interface.  The page is
   untrusted: every buffer grows with what is written to it.  Strings end with a zero, which the parser leaves
   nowhere; a page that is unusual is left to the reference: the scan then ends with a status. */
#include <setjmp.h>

#include "dom.h"

enum { SPACE = 8 };
enum { OTHER, UNREAD, CODE, MAIN, ARTICLE, DIALOG, ANCHOR, AREA, FRAME, LINK, META, BASE, IMAGE, ITEM, SPAN, PAGE, TITLE };
enum { RANGE_MAIN, RANGE_ROLE, RANGE_ARTICLE, RANGE_DIALOG, IN_CODE = 4 };
enum { OF_PAGE = 1, HAS_HIDDEN = 2, HAS_ARIA = 4 };

typedef struct {
    Parser parser;
    Bytes classes; /* of CHARACTERS */
    Bytes roles;   /* of TAGS */
    Dom head, body;
    int64_t max_links, max_reads, max_context, max_beside, max_value;
} Page;

typedef struct { /* the first fields are the result */
    Buffer texts;     /* strings */
    Buffer in_code;   /* for each text, 1 if it is inside of code */
    Buffer ranges;    /* three numbers each: kind, first text, end */
    Buffer links;     /* six strings each */
    Buffer images;    /* two strings each: address, alternative text */
    Buffer image_links; /* two numbers each: number of the link around it or -1, 1 if it is inside of code */
    Buffer metas;     /* two strings each: name, content */
    Buffer meta_places; /* for each, 1 if it is in the head */
    Buffer hidden;    /* three strings each: hidden, style, class */
    Buffer hidden_at; /* the address of each */
    Buffer hidden_marks;
    Buffer licences;  /* strings */
    Buffer base, language, title; /* one string, or none */
    int64_t has_code, status;
    /* state */
    const Page *page;
    Buffer open, folded;
    Dom unread, code, link_node; /* the last is that of `link` */
    int64_t text_count, link_count, matched, link, reads;
    int32_t in_head, in_body;
    jmp_buf end;
} Scan;

typedef struct {
    Span href, src, data_src, hreflang, lang, class, rel, type, alt, title, name, property, content, http_equiv, id, role,
        style, aria_hidden, aria_modal, hidden;
    int count;
} Attributes;
typedef struct { Dom node; int64_t range; } Open;

static void stop(Scan *scan, int status) {
    scan->status = status;
    longjmp(scan->end, 1);
}

/* Makes room for more bytes at the end of a buffer, and returns where they begin. */
static void *more(Scan *scan, Buffer *buffer, int64_t size) {
    int status = DONE;
    void *at = grown(buffer, size, &status);
    if (!at) stop(scan, status);
    return at;
}

static void put(Scan *scan, Buffer *buffer, int32_t value) { *(int32_t *)more(scan, buffer, 4) = value; }
static void put_byte(Scan *scan, Buffer *buffer, int value) { *(uint8_t *)more(scan, buffer, 1) = (uint8_t)value; }

static void write(Scan *scan, Buffer *buffer, Span text) {
    if (!text.size) return;
    if (memchr(text.at, 0, (size_t)text.size)) stop(scan, UNUSUAL);
    memcpy(more(scan, buffer, text.size), text.at, (size_t)text.size);
}

static void add(Scan *scan, Buffer *buffer, Span text) {
    write(scan, buffer, text);
    put_byte(scan, buffer, 0);
}

static void add_name(Scan *scan, Buffer *buffer, const char *name) { add(scan, buffer, (Span){(Bytes)name, (int64_t)strlen(name)}); }

/* Characters */

/* The next character of a text; stops where the text is not valid UTF-8. */
static uint32_t character(Scan *scan, Bytes *at, Bytes end) {
    int32_t point = next_character(at, end);
    if (point < 0) stop(scan, UNUSUAL);
    return (uint32_t)point;
}

static int is_space(Scan *scan, uint32_t point) { return point < CHARACTERS && scan->page->classes[point] & SPACE; }

static Span stripped(Scan *scan, Span text) {
    Bytes end = text.at + text.size;
    while (text.at < end) {
        Bytes at = text.at;
        if (!is_space(scan, character(scan, &at, end))) break;
        text.at = at;
    }
    while (end > text.at) {
        Bytes last = last_character((Span){text.at, end - text.at}), at = last;
        if (!is_space(scan, character(scan, &at, end))) break;
        end = last;
    }
    return (Span){text.at, end - text.at};
}

static Span last_characters(Span text, int64_t count) {
    Bytes at = text.at + text.size;
    while (count-- && at > text.at) at = last_character((Span){text.at, at - text.at});
    return (Span){at, text.at + text.size - at};
}

/* A text whose white space is collapsed to single blanks; it is written to `folded` piece by piece. */
typedef struct { int64_t read, written; int is_apart; } Fold; /* characters that may still be read, and written */

static void fold(Scan *scan, Fold *state, Span text) {
    Bytes at = text.at, end = text.at + text.size;
    while (at < end && state->read-- > 0 && state->written > 0) {
        Bytes from = at;
        if (is_space(scan, character(scan, &at, end))) {
            state->is_apart = 1;
            continue;
        }
        if (state->is_apart && scan->folded.size) {
            put_byte(scan, &scan->folded, ' ');
            if (!--state->written) return;
        }
        state->is_apart = 0;
        memcpy(more(scan, &scan->folded, at - from), from, (size_t)(at - from));
        state->written--;
    }
}

static Span folded(Scan *scan) { return (Span){scan->folded.at, scan->folded.size}; }


static int is_exactly(Span text, const char *name) {
    return (int64_t)strlen(name) == text.size && !memcmp(text.at, name, (size_t)text.size);
}

static int begins_with(Span text, const char *start) {
    int64_t size = (int64_t)strlen(start);
    return text.size >= size && !memcmp(text.at, start, (size_t)size);
}

/* True if a text has a word in it; upper and lower case are the same if `is_folded` is 1. */
static int contains(Span text, const char *word, int is_folded) {
    int64_t size = (int64_t)strlen(word);
    for (int64_t k = 0; k + size <= text.size; k++) {
        int64_t c = 0;
        while (c < size && (is_folded ? lowered(text.at[k + c]) : text.at[k + c]) == (uint8_t)word[c]) c++;
        if (c == size) return 1;
    }
    return 0;
}

/* True if one of the words of an attribute, which HTML's white space separates, is the name. */
static int has_word(Span text, const char *name, int is_folded) {
    for (int64_t k = 0; k < text.size;) {
        int64_t start = k;
        while (k < text.size && !memchr(" \t\n\f\r", text.at[k], 5)) k++;
        Span word = {text.at + start, k - start};
        if (word.size && (is_folded ? is_named(word, name) : is_exactly(word, name))) return 1;
        k++;
    }
    return 0;
}

/* Nodes */

static int role_of(Scan *scan, Dom node) {
    uintptr_t tag = scan->page->parser.tag_id(node);
    return tag < TAGS ? scan->page->roles[tag] : OTHER;
}

static int is_element(Scan *scan, Dom node) { return scan->page->parser.type(node) == ELEMENT; }
static int is_unread(Scan *scan, Dom node) { return is_element(scan, node) && role_of(scan, node) == UNREAD; }

/* The first node from a sibling on that is read. */
static Dom read_from(Scan *scan, Dom node, Dom (*next)(Dom)) {
    while (node && is_unread(scan, node)) node = next(node);
    return node;
}

static Span *place_of(Attributes *own, Bytes name, size_t size) {
#define IS(text, field) if (!memcmp(name, text, size)) return &own->field
    switch (size) {
    case 2: IS("id", id); break;
    case 3: IS("src", src); IS("rel", rel); IS("alt", alt); break;
    case 4: IS("href", href); IS("lang", lang); IS("type", type); IS("name", name); IS("role", role); break;
    case 5: IS("class", class); IS("style", style); IS("title", title); break;
    case 6: IS("hidden", hidden); break;
    case 7: IS("content", content); break;
    case 8: IS("hreflang", hreflang); IS("data-src", data_src); IS("property", property); break;
    case 10: IS("http-equiv", http_equiv); IS("aria-modal", aria_modal); break;
    case 11: IS("aria-hidden", aria_hidden); break;
    default: break;
    }
#undef IS
    return NULL;
}

/* The attributes of an element; `at` is NULL where there is none. */
static Attributes attributes_of(Scan *scan, Dom node) {
    const Parser *parser = &scan->page->parser;
    Attributes own = {0};
    size_t size;
    for (Dom each = parser->first_attribute(node); each; each = parser->next_attribute(each)) {
        own.count++;
        Bytes name = parser->attribute_name(each, &size);
        Span *place = name ? place_of(&own, name, size) : NULL;
        if (!place) continue;
        Bytes value = parser->attribute_value(each, &size);
        *place = value ? (Span){value, (int64_t)size} : NOTHING;
    }
    return own;
}

static Span first_of(Span first, Span second) { return first.size ? first : second; }

/* Links */

static void add_inside(Scan *scan, Dom link) {
    const Parser *parser = &scan->page->parser;
    Dom inner = read_from(scan, parser->first_child(link), parser->next);
    Fold state = {4 * scan->page->max_context, scan->page->max_context, 0};
    scan->folded.size = 0;
    if (!inner) return;
    if (is_text(&scan->page->parser, inner) && !read_from(scan, parser->next(inner), parser->next)) {
        fold(scan, &state, text_of(&scan->page->parser, inner));
        return;
    }
    if (--scan->reads <= 0) return;
    for (Dom node = inner; node && state.read > 0 && state.written > 0;) {
        int is_skipped = is_unread(scan, node);
        if (is_text(&scan->page->parser, node)) {
            fold(scan, &state, text_of(&scan->page->parser, node));
            fold(scan, &state, (Span){(Bytes)" ", 1});
        }
        Dom next = is_skipped ? NULL : parser->first_child(node);
        while (!next && node != link) {
            next = parser->next(node);
            if (!next) node = parser->parent(node);
        }
        node = next;
    }
}

/* Writes the text directly before and after a link. */
static void add_beside(Scan *scan, Dom link) {
    const Parser *parser = &scan->page->parser;
    int64_t most = scan->page->max_beside;
    Dom before = read_from(scan, parser->prev(link), parser->prev), after = read_from(scan, parser->next(link), parser->next);
    scan->folded.size = 0;
    Span words = NOTHING;
    if (is_text(&scan->page->parser, before)) {
        fold(scan, &(Fold){2 * most, 2 * most, 0}, last_characters(text_of(&scan->page->parser, before), 2 * most));
        words = stripped(scan, last_characters(folded(scan), most));
    }
    write(scan, &scan->links, words);
    if (is_text(&scan->page->parser, after)) {
        scan->folded.size = 0;
        fold(scan, &(Fold){2 * most, most, 0}, text_of(&scan->page->parser, after));
        Span rest = stripped(scan, folded(scan));
        if (words.size && rest.size) put_byte(scan, &scan->links, ' ');
        write(scan, &scan->links, rest);
    }
    put_byte(scan, &scan->links, 0);
}

static int names_language(Span classes) {
    return contains(classes, "lang", 0) || contains(classes, "wpml", 0) || contains(classes, "translation", 0);
}

static void add_anchor(Scan *scan, Dom node, const Attributes *own) {
    const Parser *parser = &scan->page->parser;
    Dom around = parser->parent(node);
    Attributes of_item = {0};
    if (around && is_element(scan, around) && role_of(scan, around) == SPAN) around = parser->parent(around);
    if (around && is_element(scan, around) && role_of(scan, around) == ITEM) of_item = attributes_of(scan, around);
    add_name(scan, &scan->links, "a");
    add(scan, &scan->links, own->href);
    int64_t most = scan->page->max_context; /* what an item says is added for each link in it */
    Span classes = first_characters(own->class, 4 * most), around_classes = first_characters(of_item.class, 4 * most);
    add(scan, &scan->links, first_characters(first_of(first_of(own->hreflang, own->lang), of_item.hreflang), most));
    if (names_language(classes)) write(scan, &scan->links, classes);
    if (names_language(around_classes)) {
        put_byte(scan, &scan->links, ' ');
        write(scan, &scan->links, around_classes);
    }
    put_byte(scan, &scan->links, 0);
    add_inside(scan, node);
    add(scan, &scan->links, folded(scan));
    add_beside(scan, node);
}

static void add_link(Scan *scan, const char *name, Span target, Span lang, Span third, Span fourth) {
    add_name(scan, &scan->links, name);
    add(scan, &scan->links, target);
    add(scan, &scan->links, lang);
    add(scan, &scan->links, third);
    add(scan, &scan->links, fourth);
    add(scan, &scan->links, NOTHING);
}

/* Adds the link of an element, if it has one; only so many elements are read. */
static void read_link(Scan *scan, Dom node, int role, const Attributes *own) {
    Span target = role == FRAME ? own->src : role == META ? own->content : own->href;
    int is_link = role == META ? is_named(own->http_equiv, "refresh") : target.at != NULL;
    if (role == ANCHOR && begins_with(target, "#")) is_link = 0;
    if (!is_link || scan->matched++ >= scan->page->max_links || !target.size) return;
    Span lang = first_of(own->hreflang, own->lang);
    if (role == ANCHOR) {
        add_anchor(scan, node, own);
        scan->link = scan->link_count;
        scan->link_node = node;
    } else if (role == LINK) add_link(scan, "link", target, lang, own->rel, own->type);
    else if (role == AREA) add_link(scan, "area", target, lang, own->alt, NOTHING);
    else if (role == FRAME) add_link(scan, "frame", target, lang, first_of(own->title, own->name), NOTHING);
    else add_link(scan, "meta", target, NOTHING, NOTHING, NOTHING);
    scan->link_count++;
}

static void read_image(Scan *scan, const Attributes *own) {
    Span address = scan->link < 0 ? own->src : first_of(own->src, own->data_src);
    if (!address.size && scan->link < 0) return;
    if (begins_with(address, "data:")) address.size = 5;
    add(scan, &scan->images, address);
    add(scan, &scan->images, scan->link < 0 ? NOTHING : first_characters(own->alt, scan->page->max_context));
    put(scan, &scan->image_links, (int32_t)scan->link);
    put(scan, &scan->image_links, (scan->code != NULL) | (own->src.size ? 0 : 2));
}

static void read_meta(Scan *scan, const Attributes *own) {
    Span name = first_of(own->name, own->property);
    add(scan, &scan->metas, first_characters(name, 100));
    add(scan, &scan->metas, first_characters(own->content, scan->page->max_value));
    put_byte(scan, &scan->meta_places, scan->in_head);
}

/* Elements whose texts are wanted together */

static void open_range(Scan *scan, Dom node, int kind) {
    Open *open = more(scan, &scan->open, sizeof *open);
    *open = (Open){node, scan->ranges.size};
    put(scan, &scan->ranges, kind | (scan->code ? IN_CODE : 0));
    put(scan, &scan->ranges, (int32_t)scan->text_count);
    put(scan, &scan->ranges, (int32_t)scan->text_count);
}

static int is_dialog(int role, const Attributes *own) {
    if (role == DIALOG || is_exactly(own->role, "dialog") || is_exactly(own->role, "alertdialog")) return 1;
    return is_exactly(own->aria_modal, "true") || contains(own->id, "cookie", 1) || contains(own->class, "cookie", 1)
        || contains(own->id, "consent", 1) || contains(own->class, "consent", 1);
}

static void open_ranges(Scan *scan, Dom node, int role, const Attributes *own) {
    if (!scan->in_body || role == PAGE) return;
    if (role == MAIN) open_range(scan, node, RANGE_MAIN);
    if (is_exactly(own->role, "main")) open_range(scan, node, RANGE_ROLE);
    if (role == ARTICLE) open_range(scan, node, RANGE_ARTICLE);
    if (is_dialog(role, own)) open_range(scan, node, RANGE_DIALOG);
}

/* Hidden elements, also those inside of elements that are not read */

static int may_be_hidden(int role, const Attributes *own) {
    if (own->hidden.at || contains(own->style, "hidden", 1) || contains(own->style, "none", 1)) return 1;
    if ((role == SPAN && is_exactly(own->aria_hidden, "true")) || begins_with(own->class, "material-")) return 1;
    if (own->class.size < 7) return 0;
    return has_word(own->class, "visually-hidden", 0) || has_word(own->class, "visuallyhidden", 0)
        || has_word(own->class, "sr-only", 0) || has_word(own->class, "screen-reader-text", 0)
        || has_word(own->class, "assistive-text", 0);
}

static void read_hidden(Scan *scan, Dom node, int role, const Attributes *own) {
    if (!may_be_hidden(role, own) || !scan->page->parser.first_child(node)) return;
    add(scan, &scan->hidden, own->hidden);
    add(scan, &scan->hidden, own->style);
    add(scan, &scan->hidden, own->class);
    *(uintptr_t *)more(scan, &scan->hidden_at, sizeof(uintptr_t)) = (uintptr_t)node;
    int is_page = role == PAGE;
    put_byte(scan, &scan->hidden_marks, is_page | (own->hidden.at ? HAS_HIDDEN : 0) | (own->aria_hidden.at ? HAS_ARIA : 0));
}

/* Reads an element that is entered. */
static void read_element(Scan *scan, Dom node) {
    int role = role_of(scan, node);
    Attributes own = attributes_of(scan, node);
    if (node == scan->page->head) scan->in_head = 1;
    if (node == scan->page->body) scan->in_body = 1;
    if (own.count) read_hidden(scan, node, role, &own);
    if (role == BASE && own.href.at && !scan->base.size) add(scan, &scan->base, own.href);
    if (role == META && is_named(own.http_equiv, "content-language") && !scan->language.size)
        add(scan, &scan->language, own.content);
    if (role == TITLE && !scan->title.size) add(scan, &scan->title, text_of(&scan->page->parser, node));
    if (role == UNREAD && !scan->unread) scan->unread = node;
    if (scan->unread) return;
    if (role == CODE) {
        scan->has_code = 1;
        if (!scan->code) scan->code = node;
    }
    if (role == ANCHOR && scan->link >= 0) stop(scan, UNUSUAL);
    if (own.count || role == MAIN || role == ARTICLE || role == DIALOG) open_ranges(scan, node, role, &own);
    if (role >= ANCHOR && role <= META) read_link(scan, node, role, &own);
    if ((role == ANCHOR || role == LINK || role == AREA) && has_word(own.rel, "license", 1)) add(scan, &scan->licences, own.href);
    if (role == META) read_meta(scan, &own);
    if (role == IMAGE) read_image(scan, &own);
}

static void leave(Scan *scan, Dom node) {
    if (node == scan->unread) scan->unread = NULL;
    if (node == scan->code) scan->code = NULL;
    if (node == scan->page->head) scan->in_head = 0;
    if (node == scan->page->body) scan->in_body = 0;
    if (scan->link >= 0 && node == scan->link_node) scan->link = -1;
    while (scan->open.size) {
        Open *open = (Open *)(scan->open.at + scan->open.size) - 1;
        if (open->node != node) return;
        ((int32_t *)(scan->ranges.at + open->range))[2] = (int32_t)scan->text_count;
        scan->open.size -= (int64_t)sizeof *open;
    }
}

static void scan_page(Scan *scan, Dom root) {
    const Parser *parser = &scan->page->parser;
    for (Dom node = root;;) {
        int is_inner = is_element(scan, node);
        if (is_inner) read_element(scan, node);
        else if (scan->in_body && !scan->unread && is_text(&scan->page->parser, node)) {
            add(scan, &scan->texts, stripped(scan, text_of(&scan->page->parser, node)));
            put_byte(scan, &scan->in_code, scan->code != NULL);
            scan->text_count++;
        }
        Dom next = is_inner ? parser->first_child(node) : NULL;
        while (!next) {
            leave(scan, node);
            if (node == root) return;
            next = parser->next(node);
            if (!next) node = parser->parent(node);
            if (!node) return;
        }
        node = next;
    }
}

/* Frees what a scan has allocated. */
void dom_scan_free(Scan *scan) {
    Buffer *all[] = {&scan->texts, &scan->in_code, &scan->ranges, &scan->links, &scan->images, &scan->image_links,
        &scan->metas, &scan->meta_places, &scan->hidden, &scan->hidden_at, &scan->hidden_marks, &scan->licences,
        &scan->base, &scan->language, &scan->title, &scan->open, &scan->folded};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]->at);
    free(scan);
}

/* Scans a page and returns the result, which must be freed; NULL if memory is exhausted. */
Scan *dom_scan(const Page *page, Dom root) {
    Scan *scan = calloc(1, sizeof *scan);
    if (!scan) return NULL;
    scan->page = page;
    scan->reads = page->max_reads;
    scan->link = -1;
    if (!setjmp(scan->end)) scan_page(scan, root);
    return scan;
}
