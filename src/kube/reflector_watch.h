#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "net/http.h"

namespace trainyard::kube {

// Bookmarks arrive about every minute. A watch that is silent for two minutes is replaced.
inline constexpr std::chrono::milliseconds kWatchSilence{120'000};

// The watch of a reflector, or the last one: how long it is planned to last, and what its course means.
class ReflectorWatch {
 public:
  // Returns for how long the watch that begins now is requested.
  [[nodiscard]] std::chrono::seconds begin(base::Instant now, base::Rng& rng);
  void opened(std::unique_ptr<net::StreamHandle> handle) { handle_ = std::move(handle); }
  // No further callback of the watch runs.
  void close() { handle_.reset(); }

  void lineCame(base::Instant now);
  void bookmarkCame() { bookmarked_ = true; }
  void listBegan() { bookmarked_ = false; }
  // The next watch proves that the server is alive.
  void proveNext() { proveNext_ = true; }

  // It ended at once without a line.
  [[nodiscard]] bool wasEmpty(base::Instant now) const;
  // It delivered lines for some time.
  [[nodiscard]] bool wasUseful(base::Instant now) const;
  // Returns true if the watch ended only because no line arrived for kWatchSilence, before its planned end.
  // This is normal for a quiet kind if its last bookmark followed a last change. After the planned end,
  // silence is a fault: the server's end of the watch was lost.
  [[nodiscard]] bool wasSilent(const base::Error& error, base::Instant now) const;

 private:
  std::unique_ptr<net::StreamHandle> handle_;
  base::Instant began_{};
  base::Instant plannedEnd_{};  // by its timeoutSeconds
  base::Instant lastLine_{};    // or when it began
  int lines_ = 0;
  bool bookmarked_ = false;  // by this watch, or by the last one between two
  bool proveNext_ = false;
};

}  // namespace trainyard::kube
