#pragma once

namespace trainyard::base {

// Pieces of memory of at least so many bytes, those of bodies and plans, go back to the system as soon as
// they are freed. Left to itself the allocator raises this limit with every such piece, to 32 MiB in the end,
// and keeps for ever what one storm of them took. To be called before other threads are begun.
void returnFreedMemory(int piecesOf);

// Of all threads together; else each has one of its own, with free pieces that no other can use. For programs
// that allocate little, as threads wait for one another.
void useOneArena();

}  // namespace trainyard::base
