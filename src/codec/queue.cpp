#include "codec/queue.h"

#include "codec/decode_object.h"

namespace trainyard::codec {
namespace {

model::Queue readQueue(const Field& root) {
  model::Queue queue;
  const Field meta = root["metadata"];
  queue.name = model::QueueName(meta["name"].required());
  queue.uid = model::Uid(meta["uid"].text());
  const Field spec = root["spec"];
  queue.parent = model::QueueName(spec["parent"].text());
  queue.weight = spec["weight"].integer(1, 0, INT32_MAX);
  return queue;
}

}  // namespace

base::Result<model::Queue> decodeQueue(std::string_view json) {
  return decodeObject("queue", json, readQueue);
}

}  // namespace trainyard::codec
