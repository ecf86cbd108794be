#include "codec/queue.h"

#include "codec/object_meta.h"
#include "codec/priority_class.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void queue(std::string_view input) {
  if (const auto queue = codec::decodeQueue(input)) require(!queue->name.empty(), "a queue has a name");
  if (const auto read = codec::decodePriorityClass(input)) require(!read->name.empty(), "a class has a name");
  if (const auto meta = codec::decodeObjectMeta(input)) require(!meta->name.empty(), "an object has a name");
}

}  // namespace trainyard::fuzz
