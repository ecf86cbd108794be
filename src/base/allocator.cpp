#include "base/allocator.h"

#include <malloc.h>

namespace trainyard::base {

void returnFreedMemory(int piecesOf) { mallopt(M_MMAP_THRESHOLD, piecesOf); }

void useOneArena() { mallopt(M_ARENA_MAX, 1); }

}  // namespace trainyard::base
