#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/time.h"
#include "kube/api_client.h"
#include "kube/paths.h"

namespace trainyard::kube {

// The target that a reflector keeps current. Each object arrives as JSON text, so that the reflector is
// independent of its type. The cache decodes what it keeps (a projection) and drops the text.
class ReflectorSink {
 public:
  ReflectorSink() = default;
  ReflectorSink(const ReflectorSink&) = delete;
  ReflectorSink& operator=(const ReflectorSink&) = delete;
  virtual ~ReflectorSink() = default;

  // A list arrives in pages, one at a time; `first` starts a new list and discards an unfinished one. It
  // takes effect with listed(), which has its version: an object in none of its pages did not exist then.
  virtual void page(const std::vector<std::string>& objects, bool first) = 0;
  virtual void listed(std::string_view resourceVersion) = 0;
  virtual void upsert(std::string_view object) = 0;
  virtual void remove(std::string_view object) = 0;
};

struct ReflectorOptions {
  ResourceType type;
  bool mayBeAbsent =
      false;             // its CRD may be installed later, so that it is not served is no failure to report
  Query selectors = {};  // labelSelector, fieldSelector
  int pageSize = 500;
  std::size_t pageBytes = std::size_t{16} << 20;                // of a page with several objects
  base::Instant::duration maxDelay = std::chrono::seconds(30);  // between two attempts
};

// Lists, then watches, for ever: paging, bookmarks, resuming from the last resourceVersion, a new list on
// 410, and back-off from 0.8 s to `maxDelay` with jitter on failures. The first list is consistent
// (resourceVersion unset), so that a program never starts from a state that another replica has already left.
// A page larger than `pageBytes` is requested again with fewer objects, and page sizes grow again while
// objects are small.
class Reflector {
 public:
  Reflector(ReflectorOptions options, ApiClient& api, base::Executor& executor, base::Rng rng,
            base::Logger log, ReflectorSink& sink);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  // Cancels the watch; no further call reaches the sink.
  void stop();
  // True once the first list has been delivered.
  [[nodiscard]] bool synced() const;
  // The last answer was that the kind is not served, and it may be.
  [[nodiscard]] bool absent() const;
  // When the server last answered: an event, a bookmark, a list, or the planned end of a watch.
  [[nodiscard]] base::Instant lastHeard() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainyard::kube
