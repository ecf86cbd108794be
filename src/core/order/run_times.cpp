#include "core/order/run_times.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "model/conditions.h"
#include "model/gang_size.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kMostOfAKind = 1'024;
constexpr std::size_t kMostInAll = 20'000;

// What Kubernetes appends for `generateName`: five of these, which hardly make a word.
constexpr std::string_view kGenerated = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kGeneratedLength = 5;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool saysNothing(std::string_view part) {
  if (std::all_of(part.begin(), part.end(), isDigit)) return true;
  return part.size() == kGeneratedLength && part.find_first_not_of(kGenerated) == std::string_view::npos;
}

std::string_view stemOf(std::string_view name) {
  for (auto dash = name.rfind('-'); dash != std::string_view::npos && dash > 0; dash = name.rfind('-')) {
    if (!saysNothing(name.substr(dash + 1))) break;
    name = name.substr(0, dash);
  }
  return name;
}

// FNV-1a (Fowler, Noll, Vo): the same in every process, which std::hash does not promise.
std::uint32_t fingerprintOf(const model::Uid& uid) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : uid.str()) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

// The same in 64 bits, of parts that do not run into each other.
class Number {
 public:
  Number& add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix('/');
    return *this;
  }
  Number& add(std::int64_t number) {
    for (auto left = static_cast<std::uint64_t>(number); left != 0; left >>= 8)
      mix(static_cast<unsigned char>(left & 0xff));
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 1'099'511'628'211U; }

  std::uint64_t hash_ = 14'695'981'039'346'656'037U;
};

void forgetOldKinds(model::RunTimes& times) {
  std::size_t all = 0;
  for (const auto& [kind, runs] : times.kinds) all += runs.size();
  while (all > kMostInAll) {
    const auto oldest = std::min_element(
        times.kinds.begin(), times.kinds.end(),
        [](const auto& a, const auto& b) { return a.second.back().submitted < b.second.back().submitted; });
    all -= oldest->second.size();
    times.kinds.erase(oldest);
  }
}

bool add(std::vector<model::PastRun>& runs, const model::PastRun& run) {
  const auto at = std::lower_bound(runs.begin(), runs.end(), run);
  if (at != runs.end() && *at == run) return false;
  const bool full = runs.size() == kMostOfAKind;
  if (full && at == runs.begin()) return false;  // older than all that is kept
  runs.insert(at, run);
  if (full) runs.erase(runs.begin());
  return true;
}

}  // namespace

std::array<std::string, 3> kindsOf(const model::Job& job) {
  const std::int64_t gpus = model::desiredGpus(job.spec);
  return {fmt::format("job/{}/{}/{}", job.key.ns, stemOf(job.key.name), gpus),
          fmt::format("queue/{}/{}", job.spec.queue, gpus), fmt::format("queue/{}", job.spec.queue)};
}

std::array<std::uint64_t, 3> kindNumbersOf(const model::Job& job) {
  const std::int64_t gpus = model::desiredGpus(job.spec);
  return {Number().add("job").add(job.key.ns).add(stemOf(job.key.name)).add(gpus).value(),
          Number().add("queue").add(job.spec.queue.str()).add(gpus).value(),
          Number().add("queue").add(job.spec.queue.str()).value()};
}

bool learn(model::RunTimes& times, const model::SharedList<model::Job>& jobs) {
  bool changed = false;
  for (const auto& job : jobs) {
    if (!job->conditionTrue(model::conditions::kSucceeded) || job->status.service.runSeconds <= 0) continue;
    if (model::desiredGpus(job->spec) <= 0) continue;
    const model::PastRun run{std::chrono::floor<std::chrono::seconds>(job->created),
                             ranSoFar(*job, job->created), fingerprintOf(job->uid)};
    for (const std::string& kind : kindsOf(*job)) changed = add(times.kinds[kind], run) || changed;
  }
  if (changed) forgetOldKinds(times);
  return changed;
}

bool merge(model::RunTimes& times, const model::RunTimes& others) {
  bool changed = false;
  for (const auto& [kind, runs] : others.kinds) {
    for (const model::PastRun& run : runs) changed = add(times.kinds[kind], run) || changed;
  }
  if (changed) forgetOldKinds(times);
  return changed;
}

}  // namespace trainyard::core
