/* What the passes over the DOM of a page share: the functions of the HTML parser, buffers, and characters. */
#ifndef DIPTYCH_DOM_H
#define DIPTYCH_DOM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef const uint8_t *Bytes;
typedef void *Dom; /* a node or attribute of the parser */

typedef struct { /* functions of the parser */
    Dom (*first_child)(Dom), (*next)(Dom), (*prev)(Dom), (*parent)(Dom);
    uintptr_t (*tag_id)(Dom);
    int (*type)(Dom);
    Bytes (*text)(Dom, size_t *); /* a copy that lives as long as the page */
    Dom (*first_attribute)(Dom), (*next_attribute)(Dom);
    Bytes (*attribute_name)(Dom, size_t *), (*attribute_value)(Dom, size_t *), (*element_name)(Dom, size_t *);
} Parser;

typedef struct { uint8_t *at; int64_t size, room; } Buffer;
typedef struct { Bytes at; int64_t size; } Span;

enum { CHARACTERS = 0x40000, TAGS = 256, ELEMENT = 1, TEXT = 2 };
enum { DONE, UNUSUAL, NO_MEMORY, STOPPED };

static const Span NOTHING = {(Bytes) "", 0};

/* Makes room for more bytes at the end of a buffer; returns where they begin, or NULL and the status. */
static inline void *grown(Buffer *buffer, int64_t size, int *status) {
    if (size > buffer->room - buffer->size) {
        if (size > INT32_MAX / 2 || buffer->size > INT32_MAX / 2) {
            *status = UNUSUAL;
            return NULL;
        }
        int64_t room = 2 * buffer->room + size + 64;
        uint8_t *at = realloc(buffer->at, (size_t)room);
        if (!at) {
            *status = NO_MEMORY;
            return NULL;
        }
        buffer->at = at;
        buffer->room = room;
    }
    void *at = buffer->at + buffer->size;
    buffer->size += size;
    return at;
}

/* The next character of a text, or -1 where the text is not valid UTF-8. */
static inline int32_t next_character(Bytes *at, Bytes end) {
    Bytes c = *at;
    uint32_t point = *c;
    int more_bytes = point < 0x80 ? 0 : point >= 0xf0 ? 3 : point >= 0xe0 ? 2 : 1;
    if ((point >= 0x80 && point < 0xc2) || point > 0xf4 || end - c <= more_bytes) return -1;
    if (more_bytes) point &= 0x3fu >> more_bytes;
    for (int k = 1; k <= more_bytes; k++) {
        if ((c[k] & 0xc0) != 0x80) return -1;
        point = point << 6 | (c[k] & 0x3f);
    }
    if (point >= 0xd800 && point < 0xe000) return -1;
    if (more_bytes > 1 && point < (more_bytes == 2 ? 0x800u : 0x10000u)) return -1;
    *at = c + 1 + more_bytes;
    return (int32_t)point;
}

static inline Bytes last_character(Span text) {
    Bytes at = text.at + text.size;
    do at--;
    while (at > text.at && (*at & 0xc0) == 0x80);
    return at;
}

static inline Span first_characters(Span text, int64_t count) {
    int64_t k = 0;
    for (; k < text.size; k++)
        if ((text.at[k] & 0xc0) != 0x80 && count-- == 0) break;
    return (Span){text.at, k};
}

static inline uint8_t lowered(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }

/* 1 if a text is a name, ignoring the case of ASCII letters; the name is in lower case. */
static inline int is_named(Span text, const char *name) {
    if ((int64_t)strlen(name) != text.size) return 0;
    for (int64_t k = 0; k < text.size; k++)
        if (lowered(text.at[k]) != (uint8_t)name[k]) return 0;
    return 1;
}

static inline int is_text(const Parser *parser, Dom node) { return node && parser->tag_id(node) == TEXT; }

static inline Span text_of(const Parser *parser, Dom node) {
    size_t size = 0;
    Bytes text = parser->text(node, &size);
    return text ? (Span){text, (int64_t)size} : NOTHING;
}

#endif
