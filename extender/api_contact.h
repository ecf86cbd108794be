#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/executor.h"
#include "kube/api_client.h"

namespace trainyard::extender {

// Reports whether the API server can be reached and whether its watches still deliver. Watches alone detect a
// lost connection late. Those of a quiet cluster are silent for a minute, and a connection that was cut
// without a close looks the same. ApiContact therefore requests /version every few seconds. A server that
// answers may still deliver no events, because a proxy may hold back streams alone. Each watch gets a sign of
// life every 100 s (kube/reflector.cpp) and is reopened after 120 s without one.
//
// Lives on the executor's loop.
class ApiContact {
 public:
  static constexpr std::chrono::seconds kBetweenProbes{5};
  // Three failed probes. The operator releases members on its own fresh view at any time. The longer the
  // extender answers from an old view, the more of their assigned nodes look free.
  static constexpr std::chrono::seconds kLostAfter{20};
  // Applies to the watch that has been silent longest. Covers a watch that broke unnoticed (120 s) plus its
  // reopening and first sign of life (10 s), and little more.
  static constexpr std::chrono::seconds kDisconnectedAfter{150};

  struct Listener {
    std::function<void(std::string_view why)> lost;  // no contact for kLostAfter or kDisconnectedAfter
    std::function<void()> regained;                  // answers, and its watches deliver again
    // When the watch that has been silent longest last received data; nullopt until all watches have.
    std::function<std::optional<base::Instant>()> lastContact;
  };

  ApiContact(kube::ApiClient& api, base::Executor& executor, Listener listener);
  ~ApiContact();
  ApiContact(const ApiContact&) = delete;
  ApiContact& operator=(const ApiContact&) = delete;

  void start();

 private:
  void tick();
  void probe();
  [[nodiscard]] bool isDisconnected() const;

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
