#include "codec/queue.h"

#include "codec/namespace.h"
#include "codec/object_meta.h"
#include "codec/priority_class.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {
namespace {

void readAgain(const model::Queue& queue) {
  require(!queue.name.empty(), "a queue has a name");
  for (const auto& [name, amount] : queue.limit.entries()) require(amount >= 0, "a limit is not negative");
  if (!queue.specError.empty()) require(queue.specError.starts_with("spec"), "a complaint names the field");
  const auto again = codec::decodeQueue(R"({"metadata":{"name":"again"},"status":)" +
                                        codec::encodeQueueStatus(queue.status) + "}");
  require(again && again->status == queue.status, "a status reads as it was written");
}

}  // namespace

void queue(std::string_view input) {
  if (const auto queue = codec::decodeQueue(input)) readAgain(*queue);
  if (const auto space = codec::decodeNamespace(input))
    require(!space->name.empty(), "a namespace has a name");
  if (const auto read = codec::decodePriorityClass(input)) require(!read->name.empty(), "a class has a name");
  if (const auto meta = codec::decodeObjectMeta(input)) require(!meta->name.empty(), "an object has a name");
}

}  // namespace trainyard::fuzz
