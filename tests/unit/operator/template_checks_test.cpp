#include "operator/template_checks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace trainyard::operator_ {
namespace {

model::Job waiting(std::string_view name) {
  model::Job job;
  job.key = {"ml", std::string(name)};
  job.spec.templateHash = "same";
  return job;
}

TEST_CASE("a check of a job that was given more memory does not apply to others with its templates") {
  TemplateChecks checks;
  model::Job larger = waiting("larger");
  larger.status.restarts.add(model::FailureClass::kHostOutOfMemory, true);
  const model::Job sibling = waiting("sibling");
  checks.passed(sibling, {});
  checks.failedForNow(larger, "exceeds the namespace's most", {});
  CHECK(checks.outcome(sibling, {}) == "");
  CHECK(checks.outcome(waiting("another"), {}) == "");
  CHECK(checks.outcome(larger, {}) == "exceeds the namespace's most");
}

TEST_CASE("a refusal is checked again for every job of the template and ever less often") {
  TemplateChecks checks;
  base::Instant now{};
  std::vector<std::int64_t> seconds;
  for (int i = 0; i < 7; ++i) {
    checks.failedForNow(waiting("first"), "must be less than the limit", now);
    CHECK(checks.outcome(waiting("another"), now) == "must be less than the limit");
    const base::Instant next = *checks.nextWake(now);
    seconds.push_back(std::chrono::duration_cast<std::chrono::seconds>(next - now).count());
    now = next;
    CHECK_FALSE(checks.outcome(waiting("another"), now));
  }
  CHECK(seconds == std::vector<std::int64_t>{1, 2, 4, 8, 16, 30, 30});
  checks.passed(waiting("another"), {});
  CHECK(checks.outcome(waiting("first"), now) == "");
}

TEST_CASE("many refused templates are checked no more often than ten a second") {
  TemplateChecks checks;
  for (int i = 0; i < 1'000; ++i) {
    model::Job job = waiting("j");
    job.spec.templateHash = std::to_string(i);
    for (int again = 0; again < 9; ++again) checks.failedForNow(job, "refused", {});
  }
  model::Job one = waiting("j");
  one.spec.templateHash = "7";
  checks.failedForNow(one, "refused", {});
  CHECK(checks.outcome(one, base::Instant{} + std::chrono::seconds(99)));
}

TEST_CASE("no state is stored of deleted jobs nor of former versions") {
  TemplateChecks checks;
  model::PodShape larger;
  larger.requests.cpu = {4'000};
  checks.passed(waiting("any"), {{"worker", larger}});
  std::vector<std::weak_ptr<const model::Job>> former;
  std::shared_ptr<const model::Job> last;
  for (int i = 0; i < 100; ++i) {
    model::Job job = waiting("j" + std::to_string(i));
    job.spec.roles.emplace_back().name = "worker";
    last = std::make_shared<const model::Job>(job);
    model::Snapshot snapshot;
    snapshot.jobs.edit().push_back(last);
    checks.overlay(snapshot);
    CHECK(snapshot.jobs[0]->spec.roles[0].shape.requests.cpu == larger.requests.cpu);
    model::Snapshot again;
    again.jobs.edit().push_back(last);
    checks.overlay(again);
    CHECK(again.jobs[0] == snapshot.jobs[0]);
    former.push_back(last);
  }
  last.reset();
  CHECK(std::count_if(former.begin(), former.end(), [](const auto& each) { return !each.expired(); }) == 1);
  model::Snapshot empty;
  checks.overlay(empty);
  CHECK(former.back().expired());
}

}  // namespace
}  // namespace trainyard::operator_
