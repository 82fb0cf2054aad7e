// Overwrites every block of the heap when it is freed, whichever library used it: strings, JSON, buffers of the HTTP and TLS
// libraries, of GLib and of libc. A program's own free and realloc take the place of glibc's for all of the process
// (The GNU C Library, "Replacing malloc"); glibc's are still there, under the names it keeps for that.
//
// What is in no block is not reached: stacks, registers, pages of the kernel (Docs/threat-model.md).
#include <malloc.h>
#include <stddef.h>
#include <string.h>

// The sanitizers replace malloc and free, so nothing is overwritten in such a build.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

void __libc_free(void *block);

void free(void *block)
{
    if (!block) return;
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
}

// glibc's own would move a block and leave the old one as it is.
void *realloc(void *block, size_t size)
{
    if (!block) return malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t had = malloc_usable_size(block);
    // Shrinking by less than half is not worth a move; what lies beyond goes with the block.
    if (size <= had && size >= had / 2) return block;
    void *moved = malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, had < size ? had : size);
    free(block);
    return moved;
}

#endif

#if __has_feature(address_sanitizer)

const char *__asan_default_options(void);

// Leaks cannot be looked for: that takes ptrace(2), which authd does not allow.
const char *__asan_default_options(void) { return "detect_leaks=0"; }

#endif
