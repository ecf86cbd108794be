#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/executor.h"
#include "kube/api_client.h"

namespace trainyard::extender {

// Whether the API server can be reached. Watches alone tell that late: a quiet cluster's say nothing for a
// minute, and a connection that is cut without a word looks the same. So it is asked for its version every
// few seconds.
//
// Assumes: who is answered hears his watches as well, or they notice and list anew.
//
// Lives on the executor's loop.
class ApiContact {
 public:
  static constexpr std::chrono::seconds kBetweenProbes{5};
  // Three probes in vain. The operator releases members on a fresh view of its own at any time: the longer an
  // old view is answered from, the more of its places look free.
  static constexpr std::chrono::seconds kLostAfter{20};

  struct Listener {
    std::function<void()> lost;      // unheard of for kLostAfter
    std::function<void()> regained;  // answers again
  };

  ApiContact(kube::ApiClient& api, base::Executor& executor, Listener listener);
  ~ApiContact();
  ApiContact(const ApiContact&) = delete;
  ApiContact& operator=(const ApiContact&) = delete;

  void start();

 private:
  void tick();
  void probe();
  void answered();

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
