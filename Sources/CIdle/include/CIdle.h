// What an agent with nothing to do needs of libdispatch: nothing. There is nothing to call (see dispatch.c).
#pragma once
