// What an agent with nothing to do needs of libdispatch and of memory: nothing.
#pragma once

// Unmaps what can be read from the programs' files again, and gives free heap back. Any thread may call it at any time:
// a page that is needed after all comes from the page cache, within microseconds.
void authd_give_back_pages(void);
