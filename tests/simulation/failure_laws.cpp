#include "simulation/failure_laws.h"

#include <optional>

#include <fmt/format.h>

#include "model/conditions.h"

namespace trainyard::simulation {
namespace {

using model::FailureClass;

// How often a job may restart by its failure class. The table is repeated here, so that an error in the
// product's table is detected. Other classes have no bound: lost members are replaced as often as
// necessary.
std::optional<int> mostRestarts(FailureClass failure) {
  switch (failure) {
    case FailureClass::kImportError:
    case FailureClass::kDeadlineExceeded: return 0;
    case FailureClass::kUnknown: return 1;
    case FailureClass::kGpuHardware:
    case FailureClass::kNcclError: return 3;
    default: return std::nullopt;
  }
}

}  // namespace

void FailureLaws::check(const model::Job& before, const model::Job& after) const {
  if (before.finished() && !after.finished()) violated_(fmt::format("{} had ended and has not", after.key));
  if (after.finished() && !after.conditionTrue(model::conditions::kFinished))
    violated_(fmt::format("{} has ended without saying so", after.key));
  int more = 0;
  for (const auto& [failure, count] : after.status.restarts.byClass) {
    const int grown = count - before.status.restarts.of(failure);
    if (grown == 0) continue;
    more += grown;
    if (!after.status.lastFailure || after.status.lastFailure->failure != failure)
      violated_(
          fmt::format("{} restarts because of {}, and reports another reason", after.key, toString(failure)));
    if (count > mostRestarts(failure).value_or(count))
      violated_(
          fmt::format("{} restarts for the {}th time because of {}", after.key, count, toString(failure)));
  }
  // If the other members keep running, the failed one starts after its pause: counted before it has an epoch.
  const bool later = after.spec.failure.scope == model::RestartScope::kPod && after.status.gang.placed &&
                     after.status.gang.backoff && after.status.gang.lastEpoch == before.status.gang.lastEpoch;
  if (more > 1 || (more == 1 && !later && after.status.gang.lastEpoch != before.status.gang.lastEpoch + 1))
    violated_(fmt::format("{} counts {} restarts from epoch {} to {}", after.key, more,
                          before.status.gang.lastEpoch, after.status.gang.lastEpoch));
}

}  // namespace trainyard::simulation
