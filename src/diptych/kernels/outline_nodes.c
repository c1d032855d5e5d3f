/* The nodes of a document tree, in postorder, from the events of a page's outline.

   `stages/align_dom/domtree/document.py` is the reference implementation: `_from_outline` and `_Builder`.
   `kernels/outline_nodes.py` checks the input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE, BLOCK, LEAF, TEXT, CLOSE }; /* kinds of events, as in `page/content.py` */
enum { IS_LINK = 1, IS_INLINE = 2 };       /* roles of element names */
enum { TEXT_TAG = -1, OUTSIDE_TAG = -2 };

typedef struct {
    int64_t events, elements, blocks;
    const uint8_t *kind; /* events */
    const int32_t *value;
    const uint32_t *number;
    const int32_t *target; /* elements: the string of the link's target, or 0 */
    const uint8_t *role;   /* strings */
    const uint32_t *place, *run; /* blocks: element, and run in the element */
    int64_t is_bare;             /* 1 to drop links that neither contain a block nor are in one */
    uint64_t seed;               /* of the hashes of blocks, so that no page can plan collisions */
} Outline;

typedef struct {
    int64_t count, anchors;
    int32_t *tag, *href, *block, *start; /* nodes; room for events + blocks */
    int32_t *anchor_from;                /* nodes: the first of the texts in `anchor`, whose end is that of the next node */
    int32_t *anchor;                     /* events: texts of links, as strings */
} Nodes;

/* An open element: whether it is a node, the block element around it, the texts of its link as a list, and the level of
   the innermost node that is a link or a block, itself included, or -1. */
typedef struct {
    int32_t is_node, around, tag, href, block, start, first, last, owner;
} Open;

typedef struct {
    int64_t mask;
    int32_t *slot;       /* 1 + number of a block, or 0 */
    uint8_t *is_claimed; /* blocks: 1 if it is in a node, or repeats the key of another block */
    uint8_t *is_inside;  /* blocks: 1 if a text has its key */
} Index;

/* The slot of the block with this element and run, or an empty slot. */
static int32_t *find(const Outline *outline, const Index *index, uint32_t place, uint32_t run) {
    uint64_t key = (((uint64_t)place << 32 | run) ^ outline->seed) * 0x9E3779B97F4A7C15u;
    key = (key ^ key >> 32) * (outline->seed | 1);
    for (int64_t at = (int64_t)(key >> 32) & index->mask;; at = (at + 1) & index->mask) {
        int32_t block = index->slot[at] - 1;
        if (block < 0 || (outline->place[block] == place && outline->run[block] == run)) return &index->slot[at];
    }
}

/* The block with this element and run if it is in no node yet, or -1. */
static int32_t claim(const Outline *outline, Index *index, int32_t place, uint32_t run, int is_text) {
    if (place < 0) return -1;
    int32_t block = *find(outline, index, (uint32_t)place, run) - 1;
    if (block < 0) return -1;
    if (is_text) index->is_inside[block] = 1;
    if (index->is_claimed[block]) return -1;
    index->is_claimed[block] = 1;
    return block;
}

static void add(Nodes *nodes, int32_t tag, int32_t href, int32_t block, int32_t start) {
    int64_t at = nodes->count++;
    nodes->tag[at] = tag, nodes->href[at] = href, nodes->block[at] = block, nodes->start[at] = start;
    nodes->anchor_from[at] = (int32_t)nodes->anchors;
}

/* Closes a node; drops it if its subtree has neither text nor links.  is_inside: 1 if it is in a block. */
static void close_node(
    const Outline *outline, Nodes *nodes, const Open *open, int is_inside, const int32_t *next) {
    int is_empty = open->block < 0 && open->start == nodes->count;
    if (is_empty && (!open->href || (outline->is_bare && !is_inside))) return;
    const int32_t *value = outline->value;
    add(nodes, open->tag, open->href, open->block, open->start);
    if (open->block < 0)
        for (int32_t text = open->first; text >= 0; text = next[text]) nodes->anchor[nodes->anchors++] = value[text];
}

static void add_text(
    const Outline *outline, Nodes *nodes, Index *index, Open *stack, int64_t depth, int32_t event, int32_t around,
    int32_t *next) {
    int32_t block = claim(outline, index, around, outline->number[event], 1);
    int32_t owner = depth ? stack[depth - 1].owner : -1;
    if (owner >= 0 && stack[owner].href) {
        Open *open = &stack[owner];
        if (open->last >= 0) next[open->last] = event;
        else open->first = event;
        open->last = event;
    }
    if (block >= 0) add(nodes, TEXT_TAG, 0, block, (int32_t)nodes->count);
}

/* Adds the nodes of all elements and texts; returns 0 if the events are not those of a tree. */
static int walk(const Outline *outline, Nodes *nodes, Index *index, Open *stack, int32_t *next) {
    int32_t element = -1, around = -1;
    int64_t depth = 0, inside = 0; /* the number of open elements, and of those that are blocks */
    for (int32_t event = 0; event < outline->events; event++) {
        int kind = outline->kind[event];
        if (kind == TEXT) {
            next[event] = -1;
            add_text(outline, nodes, index, stack, depth, event, around, next);
        } else if (kind == CLOSE) {
            if (!depth--) return 0;
            around = stack[depth].around;
            inside -= stack[depth].block >= 0;
            if (stack[depth].is_node) close_node(outline, nodes, &stack[depth], inside > 0, next);
        } else {
            if (++element >= outline->elements) return 0;
            int32_t name = outline->value[event], role = outline->role[name];
            int32_t href = role & IS_LINK ? outline->target[element] : 0;
            Open open = {href || !(role & IS_INLINE), around, name, href, -1, (int32_t)nodes->count, -1, -1, -1};
            if (open.is_node) open.block = claim(outline, index, element, 0, 0);
            if (kind == LEAF) {
                if (open.is_node) close_node(outline, nodes, &open, inside > 0, next);
            } else {
                if (open.is_node && (href || open.block >= 0)) open.owner = (int32_t)depth;
                else if (depth) open.owner = stack[depth - 1].owner;
                stack[depth++] = open, inside += open.block >= 0;
            }
            if (kind == BLOCK) around = element;
        }
    }
    return !depth;
}

/* Moves all nodes by `count` places, and adds the blocks outside the tree before them. */
static void put_first(Nodes *nodes, const int32_t *blocks, int64_t count) {
    int32_t *columns[] = {nodes->tag, nodes->href, nodes->block, nodes->start, nodes->anchor_from};
    for (int k = 0; k < 5; k++) memmove(columns[k] + count, columns[k], (size_t)nodes->count * sizeof **columns);
    for (int64_t at = count; at < count + nodes->count; at++) nodes->start[at] += (int32_t)count;
    int64_t all = nodes->count + count, anchors = nodes->anchors;
    nodes->count = nodes->anchors = 0;
    for (int64_t k = 0; k < count; k++) add(nodes, OUTSIDE_TAG, 0, blocks[k], (int32_t)k);
    nodes->count = all, nodes->anchors = anchors;
}

/* Adds the blocks that are in no element of the tree. */
static void add_rest(const Outline *outline, Nodes *nodes, Index *index, const uint8_t *is_repeated, int32_t *outside) {
    int64_t count = 0;
    for (int32_t block = 0; block < outline->blocks; block++) {
        int is_outside = outline->place[block] >= outline->elements || (outline->run[block] && !index->is_inside[block]);
        if (index->is_claimed[block] || is_repeated[block] || !is_outside) continue;
        index->is_claimed[block] = 1;
        outside[count++] = block;
    }
    put_first(nodes, outside, count);
    for (int repeated = 0; repeated < 2; repeated++)
        for (int32_t block = 0; block < outline->blocks; block++)
            if (is_repeated[block] == repeated && !index->is_claimed[block])
                add(nodes, TEXT_TAG, 0, block, (int32_t)nodes->count);
}

/* Writes the nodes; returns 1, 0 if the events are not those of a tree, or -1 if memory is exhausted. */
int32_t outline_nodes(const Outline *outline, Nodes *nodes) {
    size_t events = (size_t)outline->events + 1, blocks = (size_t)outline->blocks + 1;
    int64_t size = 4;
    while (size < 2 * (int64_t)blocks) size *= 2;
    Index index = {size - 1, calloc((size_t)size, sizeof *index.slot), calloc(blocks, 1), calloc(blocks, 1)};
    uint8_t *is_repeated = calloc(blocks, 1);
    Open *stack = malloc(events * sizeof *stack);
    int32_t *next = malloc(events * sizeof *next), *outside = malloc(blocks * sizeof *outside), done = -1;
    if (index.slot && index.is_claimed && index.is_inside && is_repeated && stack && next && outside) {
        for (int32_t block = 0; block < outline->blocks; block++) {
            int32_t *slot = find(outline, &index, outline->place[block], outline->run[block]);
            if (*slot) is_repeated[block] = 1;
            else *slot = block + 1;
        }
        nodes->count = nodes->anchors = 0;
        done = walk(outline, nodes, &index, stack, next);
        if (done) add_rest(outline, nodes, &index, is_repeated, outside);
    }
    free(index.slot), free(index.is_claimed), free(index.is_inside), free(is_repeated);
    free(stack), free(next), free(outside);
    return done;
}
