#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/server.h"
#include "operator/console/access.h"
#include "operator/console/live_facts.h"

namespace trainyard::operator_::console {

using ExchangePtr = std::shared_ptr<net::Exchange>;

// Finds out what the callers of requests may see, or answers them with an error.
class Callers {
 public:
  Callers(LiveFacts& facts, Access& access) : facts_(facts), access_(access) {}

  // Calls `then` with the caller's rights to these namespaces. The facts are current then.
  void identify(const ExchangePtr& exchange, const std::string& token, Names namespaces,
                std::function<void(const Viewer&)> then);
  // The same, with the rights to all namespaces that have TrainingJobs.
  void identifyForAllJobs(const ExchangePtr& exchange, const std::string& token,
                          std::function<void(const Viewer&)> then);

 private:
  void review(const ExchangePtr& exchange, const std::string& token, const Names& namespaces,
              std::function<void(const Viewer&)> then);

  LiveFacts& facts_;
  Access& access_;
};

[[nodiscard]] Access::Gone goneOf(const ExchangePtr& exchange);

// How the failure of a review is answered. Does not reveal what went wrong between the console and the API
// server.
[[nodiscard]] int statusOf(const base::Error& error);
[[nodiscard]] std::string_view messageOf(const base::Error& error);

}  // namespace trainyard::operator_::console
