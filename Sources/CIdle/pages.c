// Starting and signing in run through most of the program once, and each first step into it maps 16 pages. An idle agent
// runs in a few of them.
#define _GNU_SOURCE
#include "CIdle.h"
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// Of a segment that is never written nothing is lost: its pages are those of the file (madvise(2), MADV_DONTNEED).
static int give_back(struct dl_phdr_info *object, size_t size, void *page_size)
{
    (void)size;
    uintptr_t page = *(const uintptr_t *)page_size;
    for (size_t index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        // Refused for what is no file, as the vDSO.
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void authd_give_back_pages(void)
{
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(give_back, &page_size);
    malloc_trim(0);
}
