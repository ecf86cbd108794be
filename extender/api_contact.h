#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/executor.h"
#include "kube/api_client.h"

namespace trainyard::extender {

// Whether the API server can be reached, and its watches still tell something. Watches alone tell late that
// it cannot: a quiet cluster's say nothing for a minute, and a connection that is cut without a word looks
// the same. So it is asked for its version every few seconds. Who is answered may still hear nothing of what
// happens, as something between them may hold back streams alone: each watch has a sign of life every 100 s
// (kube/reflector.cpp), and is made anew after 120 s without.
//
// Lives on the executor's loop.
class ApiContact {
 public:
  static constexpr std::chrono::seconds kBetweenProbes{5};
  // Three probes in vain. The operator releases members on a fresh view of its own at any time: the longer an
  // old view is answered from, the more of its places look free.
  static constexpr std::chrono::seconds kLostAfter{20};
  // Of the watch that has been silent for longest: time for one that broke unseen (120 s) to be made anew and
  // to prove itself (10 s), and no more.
  static constexpr std::chrono::seconds kDeafAfter{150};

  struct Listener {
    std::function<void(std::string_view why)> lost;  // unheard of for kLostAfter, or kDeafAfter
    std::function<void()> regained;                  // answers and tells again
    // When the watch was last heard that has been silent for longest; nothing before all have told something.
    std::function<std::optional<base::Instant>()> heard;
  };

  ApiContact(kube::ApiClient& api, base::Executor& executor, Listener listener);
  ~ApiContact();
  ApiContact(const ApiContact&) = delete;
  ApiContact& operator=(const ApiContact&) = delete;

  void start();

 private:
  void tick();
  void probe();
  [[nodiscard]] bool isDeaf() const;

  kube::ApiClient& api_;
  base::Executor& executor_;
  Listener listener_;
  base::Instant lastContact_{};
  base::Instant nextProbe_{};
  bool probing_ = false;
  bool lost_ = false;
  base::TimerId timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::extender
