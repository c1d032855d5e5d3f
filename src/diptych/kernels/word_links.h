/* Types and functions of `word_links.c` that `word_evidence.c` uses; they are explained there. */
#include <stdint.h>

typedef struct {
    int64_t words;
    const int64_t *row; /* row of each word in the lexicon, or -1 */
    const int64_t *from; /* table of this side of the lexicon: row offsets, words of the other side, probabilities */
    const int32_t *column;
    const float *value;
    int64_t rows;        /* number of rows of that table */
    const uint8_t *text; /* the words in the form that is compared, concatenated, and the offset of each */
    const int64_t *at;
} Words;

typedef struct {
    double same, alike, least_likeness; /* probabilities of the same and of a similar spelling, and the minimum similarity */
    int64_t least, most;                /* minimum common prefix in letters, and maximum number of words to compare with */
} Looks;

typedef struct {
    int64_t room, count;
    int32_t *left, *right;
    float *forward, *backward;
} Found;

int32_t links_find(const Words *left, const Words *right, const Looks *looks, Found *found);
