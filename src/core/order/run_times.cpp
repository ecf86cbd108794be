#include "core/order/run_times.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/charge.h"
#include "model/conditions.h"
#include "model/gang_size.h"
#include "model/names.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kMaxOfKind = 1'024;
constexpr std::size_t kMaxTotal = 20'000;
// A ConfigMap holds at most 1 MiB.
constexpr std::size_t kMaxBytes = std::size_t{900} << 10;
constexpr std::size_t kRunBytes = 38;

// Kubernetes appends five of these letters for `generateName`; they rarely spell anything.
constexpr std::string_view kGenerated = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kGeneratedLength = 5;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isDefault(std::string_view part) {
  if (std::all_of(part.begin(), part.end(), isDigit)) return true;
  return part.size() == kGeneratedLength && part.find_first_not_of(kGenerated) == std::string_view::npos;
}

std::string_view stemOf(std::string_view name) {
  for (auto dash = name.rfind('-'); dash != std::string_view::npos && dash > 0; dash = name.rfind('-')) {
    if (!isDefault(name.substr(dash + 1))) break;
    name = name.substr(0, dash);
  }
  return name;
}

// FNV-1a (Fowler, Noll, Vo): the same in every process, which std::hash does not guarantee.
std::uint32_t fingerprintOf(const model::Uid& uid) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : uid.str()) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

// The same hash in 64 bits, with a separator after each part.
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

using Kind = std::map<std::string, std::vector<model::PastRun>>::iterator;

// The size as codec/run_times.h writes it, or an upper bound.
std::size_t bytesOf(const Kind& kind) { return kind->first.size() + 6 + kind->second.size() * kRunBytes; }

// Returns the owner of a kind: "job/NAMESPACE" or "queue/QUEUE".
std::string_view groupOf(std::string_view kind) {
  const std::size_t slash = kind.find('/');
  return slash == std::string_view::npos ? kind : kind.substr(0, kind.find('/', slash + 1));
}

// Kinds with one run, which teach the least, by their owner; the oldest last.
struct Singles {
  std::vector<Kind> kinds;
  std::size_t bytes = 0;
};

std::map<std::string_view, Singles> singlesOf(model::RunTimes& times) {
  std::map<std::string_view, Singles> groups;
  for (auto kind = times.kinds.begin(); kind != times.kinds.end(); ++kind) {
    if (kind->second.size() != 1) continue;
    Singles& group = groups[groupOf(kind->first)];
    group.kinds.push_back(kind);
    group.bytes += bytesOf(kind);
  }
  for (auto& [name, group] : groups) {
    std::sort(group.kinds.begin(), group.kinds.end(),
              [](const Kind& a, const Kind& b) { return a->second.back() > b->second.back(); });
  }
  return groups;
}

// The owner with the most such kinds loses one: invented names must not evict what other owners' jobs taught.
std::optional<Kind> nextSingle(std::map<std::string_view, Singles>& groups) {
  const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.bytes < b.second.bytes;
  });
  if (most == groups.end()) return std::nullopt;
  const Kind kind = most->second.kinds.back();
  most->second.kinds.pop_back();
  most->second.bytes -= bytesOf(kind);
  if (most->second.kinds.empty()) groups.erase(most);
  return kind;
}

void forgetOldKinds(model::RunTimes& times) {
  std::size_t all = 0;
  std::size_t bytes = 0;
  for (auto kind = times.kinds.begin(); kind != times.kinds.end(); ++kind) {
    all += kind->second.size();
    bytes += bytesOf(kind);
  }
  const auto over = [&] { return all > kMaxTotal || bytes > kMaxBytes; };
  if (!over()) return;
  auto singles = singlesOf(times);
  std::vector<Kind> gone;
  while (over()) {
    auto next = nextSingle(singles);
    if (!next) break;
    all -= 1;
    bytes -= bytesOf(*next);
    gone.push_back(*next);
  }
  for (const Kind& kind : gone) times.kinds.erase(kind);
  while (over()) {
    const auto oldest = std::min_element(
        times.kinds.begin(), times.kinds.end(),
        [](const auto& a, const auto& b) { return a.second.back().submitted < b.second.back().submitted; });
    all -= oldest->second.size();
    bytes -= bytesOf(oldest);
    times.kinds.erase(oldest);
  }
}

bool add(std::vector<model::PastRun>& runs, const model::PastRun& run) {
  const auto at = std::lower_bound(runs.begin(), runs.end(), run);
  if (at != runs.end() && *at == run) return false;
  const bool full = runs.size() == kMaxOfKind;
  if (full && at == runs.begin()) return false;  // older than all runs that are kept
  runs.insert(at, run);
  if (full) runs.erase(runs.begin());
  return true;
}

// Returns true if the spec still matches what ran. A later edit would record the run time under another size,
// or under another team's queue.
bool specMatchesRun(const model::Job& job) {
  const model::Condition* succeeded = job.condition(model::conditions::kSucceeded);
  if (succeeded->observedGeneration != job.generation) return false;
  const auto& charge = job.status.gang.charge;
  if (!charge) return true;
  const bool sameQueue =
      charge->queue == job.spec.queue || job.spec.queue.str() == model::names::kDefaultQueue;
  return sameQueue && model::sameCharge(job, charge->queue);
}

// The default queue stands for another queue in each namespace: the run times of one tenant's jobs must not
// affect another tenant's.
std::string learningQueueOf(const model::Job& job) {
  const std::string& name = job.spec.queue.str();
  return name == model::names::kDefaultQueue ? fmt::format("{}@{}", name, job.key.ns) : name;
}

}  // namespace

std::array<std::string, 3> kindsOf(const model::Job& job) {
  const std::int64_t gpus = model::desiredGpus(job.spec);
  const std::string queue = learningQueueOf(job);
  return {fmt::format("job/{}/{}/{}", job.key.ns, stemOf(job.key.name), gpus),
          fmt::format("queue/{}/{}", queue, gpus), fmt::format("queue/{}", queue)};
}

std::array<std::uint64_t, 3> kindNumbersOf(const model::Job& job) {
  const std::int64_t gpus = model::desiredGpus(job.spec);
  const std::string queue = learningQueueOf(job);
  return {Number().add("job").add(job.key.ns).add(stemOf(job.key.name)).add(gpus).value(),
          Number().add("queue").add(queue).add(gpus).value(), Number().add("queue").add(queue).value()};
}

bool learn(model::RunTimes& times, const model::SharedList<model::Job>& jobs) {
  bool changed = false;
  const model::RunTimes before = times;
  for (const auto& job : jobs) {
    if (!job->conditionTrue(model::conditions::kSucceeded) || job->status.service.runSeconds <= 0) continue;
    if (model::desiredGpus(job->spec) <= 0 || !specMatchesRun(*job)) continue;
    const model::PastRun run{std::chrono::floor<std::chrono::seconds>(job->created),
                             ranSoFar(*job, job->created), fingerprintOf(job->uid)};
    for (const std::string& kind : kindsOf(*job)) changed = add(times.kinds[kind], run) || changed;
  }
  if (!changed) return false;
  forgetOldKinds(times);
  return times != before;
}

bool merge(model::RunTimes& times, const model::RunTimes& others) {
  bool changed = false;
  const model::RunTimes before = times;
  for (const auto& [kind, runs] : others.kinds) {
    for (const model::PastRun& run : runs) changed = add(times.kinds[kind], run) || changed;
  }
  if (!changed) return false;
  forgetOldKinds(times);
  return times != before;
}

}  // namespace trainyard::core
