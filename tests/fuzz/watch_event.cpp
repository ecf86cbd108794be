#include "codec/job.h"
#include "codec/lease.h"
#include "codec/list.h"
#include "codec/node.h"
#include "codec/object_meta.h"
#include "codec/pod.h"
#include "codec/queue.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

// A line of a watch, as a reflector gets it: the event, then its object, read by every decoder.
void watchEvent(std::string_view input) {
  const auto event = codec::decodeWatchEvent(std::string(input));
  if (!event) return require(!event.error().message.empty(), "a refusal says why");
  if (event->type == codec::WatchEventType::kError)
    return require(event->status.has_value(), "errors say what");
  require(!event->resourceVersion.empty(), "an event has a version to go on from");
  if (event->type == codec::WatchEventType::kBookmark) return;
  require(looksLikeObject(event->object), "an event carries an object");
  static_cast<void>(codec::decodeObjectMeta(event->object));
  static_cast<void>(codec::decodePod(event->object));
  static_cast<void>(codec::decodeNode(event->object));
  static_cast<void>(codec::decodeJob(event->object));
  static_cast<void>(codec::decodeQueue(event->object));
  static_cast<void>(codec::decodeLease(event->object));
}

}  // namespace trainyard::fuzz
