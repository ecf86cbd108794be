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
  std::size_t maxPending = 2'000;  // events not yet written; more are dropped
};

// Writes Events, each at most once, without blocking the caller. Events that differ only in time become one
// object with a series: the second occurrence starts it, later ones are counted in memory and written every
// 30 minutes and after 6 minutes of silence. Unlike client-go, which ignores the note in the comparison and
// keeps the first one, the note is compared: otherwise a gang that is placed again would be reported on its
// former nodes. A namespace uses at most half of the capacity that others leave free, so that there is always
// capacity for a namespace without events.
class EventRecorder {
 public:
  EventRecorder(EventOptions options, ApiClient& api, base::Executor& executor, base::Logger log);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void record(const ObjectRef& regarding, EventType type, std::string_view reason, std::string_view action,
              std::string_view note);
  // The number of lost occurrences: dropped for lack of capacity, or abandoned after their retries.
  [[nodiscard]] std::size_t dropped() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainyard::kube
