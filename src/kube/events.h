#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "codec/event.h"
#include "kube/api_client.h"

namespace trainyard::kube {

using codec::ObjectRef;

enum class EventType { kNormal, kWarning };

struct EventOptions {
  std::string controller = "trainyard.dev/operator";
  std::string instance;            // the process, e.g. its pod's name
  std::size_t maxPending = 2'000;  // events not yet written; further new ones are dropped
};

// Writes Events, at most once each, without ever making the caller wait. Events that differ in nothing but
// time become one object with a series: the second occurrence starts it, later ones only count in memory and
// are written every 30 minutes and after 6 minutes of silence. client-go leaves the note out of the
// comparison and keeps the first: a gang that is placed a second time would still be said to be where it was
// before. A namespace holds no more of what is kept than is left for others: one takes half of it at most,
// and there is always room for one that has nothing yet.
class EventRecorder {
 public:
  EventRecorder(EventOptions options, ApiClient& api, base::Executor& executor, base::Logger log);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void record(const ObjectRef& regarding, EventType type, std::string_view reason, std::string_view action,
              std::string_view note);
  // How many occurrences were lost: dropped for want of room, or given up after their tries.
  [[nodiscard]] std::size_t dropped() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainyard::kube
