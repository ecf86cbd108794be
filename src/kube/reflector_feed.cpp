#include "kube/reflector_feed.h"

#include <utility>

namespace trainyard::kube {

using codec::WatchEventType;

void ReflectorFeed::page(const std::vector<std::string>& objects, bool first, base::Instant now) {
  lastHeard_ = now;
  sink_.page(objects, first);
}

void ReflectorFeed::listed(const std::string& resourceVersion) {
  resourceVersion_ = resourceVersion;
  synced_ = true;
  sink_.listed(resourceVersion_);
}

// All fields are set before the sink is called, because the sink may stop the reflector.
void ReflectorFeed::event(codec::WatchEvent event, base::Instant now) {
  lastHeard_ = now;
  resourceVersion_ = std::move(event.resourceVersion);
  switch (event.type) {
    case WatchEventType::kAdded:
    case WatchEventType::kModified: sink_.upsert(event.object); break;
    case WatchEventType::kDeleted: sink_.remove(event.object); break;
    case WatchEventType::kBookmark:
    case WatchEventType::kError: break;
  }
}

}  // namespace trainyard::kube
