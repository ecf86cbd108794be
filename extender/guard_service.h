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
#include "extender/extender_metrics.h"
#include "net/server.h"

namespace trainyard::extender {

// How long an offer is kept for a pod that is not seen bound: longer than kube-scheduler takes to bind, short
// enough that a pod which never comes costs nobody much.
inline constexpr std::chrono::seconds kHoldTime{60};

// Answers kube-scheduler from the newest view, on whatever thread asks. Without a view filter answers with an
// error and the others with 503, so that nothing is decided on half a cluster, nor on one of a while ago.
class GuardService {
 public:
  // Of `executor` only now() is used, which must then be safe from any thread. All must outlive the service.
  GuardService(const base::Executor& executor, ExtenderMetrics& metrics, base::Logger log);

  // For net::startHttpServer: POST /v1/extender/{filter,prioritize,preempt}.
  [[nodiscard]] net::HttpResponse answer(net::ServerRequest& request);

  // Replaces the view. `settled` are pods that this view shows bound, finished or gone: what they held is
  // over. Released after the view is in place, so that for a moment such room counts twice, never not at all.
  void publish(std::shared_ptr<const core::GuardView> view, const std::vector<model::Uid>& settled);
  // Until the next view there is none to answer from: this one is too old.
  void withdraw();
  void expireHolds();

  // Null until the first is published, and while it is withdrawn.
  [[nodiscard]] std::shared_ptr<const core::GuardView> view() const;
  [[nodiscard]] std::size_t holds() const;
  // Requests being answered now.
  [[nodiscard]] int inFlight() const { return inFlight_.load(); }

 private:
  struct Answer {
    net::HttpResponse response;
    Outcome outcome = Outcome::kOk;
  };
  class BorrowedParser;

  Answer answer(Verb verb, std::string& body);
  Answer filter(const core::GuardView& view, const codec::ExtenderArgs& args);
  Answer prioritize(const core::GuardView& view, const codec::ExtenderArgs& args);
  Answer preempt(const core::GuardView& view, const codec::PreemptionArgs& args);
  void logVerdict(std::string_view message, Verb verb, const model::Pod& pod, std::size_t asked,
                  std::size_t left, std::string_view why) const;

  const base::Executor& executor_;
  ExtenderMetrics& metrics_;
  base::Logger log_;
  // A mutex rather than std::atomic<std::shared_ptr>: that one is a lock as well, which ThreadSanitizer does
  // not understand in this library.
  mutable std::mutex viewMutex_;
  std::shared_ptr<const core::GuardView> view_;
  std::atomic<int> inFlight_ = 0;

  // Decision and hold are one step: two pods asked about at the same time must see each other's holds.
  mutable std::mutex holdsMutex_;
  core::Holds holds_;

  std::mutex parsersMutex_;
  std::vector<std::unique_ptr<codec::ExtenderArgsParser>> parsers_;
};

}  // namespace trainyard::extender
