#pragma once

namespace trainyard::base {

// Returns freed pieces of memory of at least this many bytes, those of bodies and plans, to the system at
// once. By default the allocator raises its threshold with every such piece, up to 32 MiB, and keeps the
// memory of one burst for ever. Must be called before other threads start.
void returnFreedMemory(int piecesOf);

// Makes all threads share one arena. By default each has its own, with free pieces that no other can use. For
// programs that allocate little, as threads wait for one another.
void useOneArena();

}  // namespace trainyard::base
