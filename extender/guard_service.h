#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "codec/extender_args.h"
#include "core/guard/guard.h"
#include "extender/cluster_facts.h"
#include "extender/extender_metrics.h"
#include "net/server.h"

namespace trainyard::extender {

// How long offered capacity is held for a pod that is not seen bound. Longer than kube-scheduler takes to
// bind, and short enough that a pod which never binds costs little.
inline constexpr std::chrono::seconds kHoldTime{60};

// Answers kube-scheduler from the newest view, on the calling thread. Without a view, filter returns an error
// and the other verbs return 503: no decision rests on half a cluster or on an outdated view.
class GuardService {
 public:
  // Uses only now() of `executor`, which must be safe from any thread. All must outlive the service.
  GuardService(const base::Executor& executor, ExtenderMetrics& metrics, base::Logger log);

  // For net::startHttpServer: POST /v1/extender/{filter,prioritize,preempt}.
  [[nodiscard]] net::HttpResponse answer(net::ServerRequest& request);

  // Replaces the view, then ends the holds of `settled`: pods that this view shows bound, finished or gone.
  // In this order their capacity counts twice for a moment, but never zero times.
  void publish(ClusterFacts facts, const std::vector<model::Uid>& settled);
  // Withdraws the view because it is too old. No view is available until the next publish().
  void withdraw();
  void expireHolds();

  // Null before the first publish() and after withdraw().
  [[nodiscard]] std::shared_ptr<const core::GuardView> view() const { return facts().view; }
  [[nodiscard]] std::size_t holds() const;
  // Requests being answered now.
  [[nodiscard]] int inFlight() const { return inFlight_.load(); }

 private:
  struct Answer {
    net::HttpResponse response;
    Outcome outcome = Outcome::kOk;
  };
  class BorrowedParser;

  [[nodiscard]] ClusterFacts facts() const;
  Answer answer(Verb verb, std::string& body);
  Answer answerForDevices(std::string& body);
  Answer badRequest(Verb verb, const base::Error& error);
  Answer filter(const core::GuardView& view, const codec::ExtenderArgs& args);
  Answer prioritize(const core::GuardView& view, const codec::ExtenderArgs& args);
  Answer preempt(const core::GuardView& view, const codec::PreemptionArgs& args);
  void logVerdict(std::string_view message, Verb verb, const model::Pod& pod, std::size_t asked,
                  std::size_t left, std::string_view why) const;

  const base::Executor& executor_;
  ExtenderMetrics& metrics_;
  base::Logger log_;
  // A mutex instead of std::atomic<std::shared_ptr>, which is a lock as well in this library and which
  // ThreadSanitizer does not understand.
  mutable std::mutex viewMutex_;
  ClusterFacts facts_;
  std::atomic<int> inFlight_ = 0;

  // Deciding and holding are one step: two concurrent requests must see each other's holds.
  mutable std::mutex holdsMutex_;
  core::Holds holds_;

  std::mutex parsersMutex_;
  std::vector<std::unique_ptr<codec::ExtenderArgsParser>> parsers_;
};

}  // namespace trainyard::extender
