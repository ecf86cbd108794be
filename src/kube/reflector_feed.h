#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "codec/list.h"
#include "kube/reflector.h"

namespace trainyard::kube {

// Passes on to the sink what the server delivers, and remembers how far that is.
class ReflectorFeed {
 public:
  explicit ReflectorFeed(ReflectorSink& sink) : sink_(sink) {}

  void page(const std::vector<std::string>& objects, bool first, base::Instant now);
  void listed(const std::string& resourceVersion);
  void event(codec::WatchEvent event, base::Instant now);
  // The server answered without an object.
  void heard(base::Instant now) { lastHeard_ = now; }

  // From which a watch continues.
  [[nodiscard]] const std::string& resourceVersion() const { return resourceVersion_; }
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] base::Instant lastHeard() const { return lastHeard_; }

 private:
  ReflectorSink& sink_;
  std::string resourceVersion_;
  bool synced_ = false;
  base::Instant lastHeard_{};
};

}  // namespace trainyard::kube
