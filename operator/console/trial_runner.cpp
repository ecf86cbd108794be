#include "operator/console/trial_runner.h"

#include "operator/console/answers.h"

namespace trainyard::operator_::console {

TrialRunner::Turn TrialRunner::turnOf(const ExchangePtr& exchange, const Viewer& viewer) {
  if (exchange->clientGone()) return nullptr;
  auto turn = turns_.take(tenantOf(viewer.user));
  if (turn) return std::move(*turn);
  exchange->reply(refusal(429, turn.error().message));
  return nullptr;
}

void TrialRunner::run(const ExchangePtr& exchange, Turn turn,
                      std::function<net::HttpResponse(core::CycleInput)> work) {
  if (exchange->clientGone()) return;
  core::CycleInput input;
  input.snapshot = facts_.current().snapshot;
  input.settings = settings_;
  offload_([exchange, input = std::move(input), work = std::move(work),
            turn = std::move(turn)]() mutable -> base::Task {
    auto answer = std::make_shared<net::HttpResponse>(work(std::move(input)));
    // The turn ends on the executor's thread.
    return [exchange, answer, turn = std::move(turn)]() mutable {
      turn.reset();
      exchange->reply(std::move(*answer));
    };
  });
}

}  // namespace trainyard::operator_::console
