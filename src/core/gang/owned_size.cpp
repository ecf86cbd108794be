#include "core/gang/owned_size.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>

#include "model/conditions.h"
#include "model/message_text.h"
#include "model/set_condition.h"

namespace trainyard::core {
namespace {

using model::Job;

// A controller makes a pod again within moments, on a new node within minutes.
constexpr std::chrono::minutes kKeepPlaces{5};
constexpr std::size_t kNamed = 5;

bool isOfBarePods(const Job& job) { return job.owner->uid.empty(); }

int countOf(const std::vector<Member>& members, const std::string& role, bool (*holds)(const Member&)) {
  return static_cast<int>(std::count_if(
      members.begin(), members.end(), [&](const Member& each) { return each.role == role && holds(each); }));
}

bool needsPlace(const Member& member) { return !member.succeeded; }

bool isLeaving(const Member& member) { return member.pod != nullptr && member.pod->terminating; }

std::optional<base::WallTime> openSince(const Job& job) {
  const model::Condition* missing = job.condition(model::conditions::kPodsMissing);
  if (missing == nullptr || missing->status != model::ConditionStatus::kTrue) return std::nullopt;
  return missing->lastTransition;
}

}  // namespace

bool isOpen(const Member& member) {
  if (member.succeeded) return false;
  return member.pod == nullptr || (member.pod->finished() && !member.pod->terminating);
}

bool mayTakePlace(const model::Pod& arrived, const model::JobSpec& spec) {
  return !arrived.terminating && arrived.otherGate.empty() && !arrived.awaitsClaims &&
         isOfRole(arrived, spec);
}

bool isOfRole(const model::Pod& arrived, const model::JobSpec& spec) {
  const model::Role* role = spec.findRole(arrived.arrival->role);
  if (role == nullptr) return false;
  const auto& wanted = arrived.shape.requests.extendedAll();
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
    return each.second <= role->shape.requests.extended(each.first);
  });
}

std::vector<Surplus> surplusOf(const Job& job, const JobPods& pods, const JobPods& arrivals) {
  std::vector<Surplus> found;
  if (arrivals.empty() || !job.status.gang.placed) return found;
  const std::vector<Member> members = placedMembers(job, *job.status.gang.placed, pods);
  for (const model::Role& role : job.spec.roles) {
    const auto arrived = std::count_if(arrivals.begin(), arrivals.end(), [&](const auto& pod) {
      return pod->arrival->role == role.name && mayTakePlace(*pod, job.spec);
    });
    const int places = countOf(members, role.name, needsPlace);
    const int more =
        std::min(static_cast<int>(arrived) - countOf(members, role.name, isOpen), role.replicas - places);
    if (more > 0) found.push_back({&role, places, more});
  }
  return found;
}

bool startsOver(const Job& job, const std::vector<Member>& members, const std::vector<Surplus>& surplus) {
  const auto runs = [](const Member& each) { return each.pod != nullptr && !each.pod->finished(); };
  return !surplus.empty() && !isOfBarePods(job) && std::none_of(members.begin(), members.end(), runs);
}

std::vector<Member> abandonedPlaces(const Job& job, const std::vector<Member>& members, base::WallTime now) {
  std::vector<Member> abandoned;
  if (isOfBarePods(job)) {
    const auto since = openSince(job);
    if (since && now >= *since + kKeepPlaces)
      std::copy_if(members.begin(), members.end(), std::back_inserter(abandoned), isOpen);
    return abandoned;
  }
  std::vector<Member> last = members;
  std::stable_sort(last.begin(), last.end(),
                   [](const Member& a, const Member& b) { return a.index > b.index; });
  std::set<std::string> roles;
  for (const Member& each : members) roles.insert(each.role);
  for (const std::string& name : roles) {
    const model::Role* role = job.spec.findRole(name);  // null: its owner has dropped it
    int surplus = countOf(members, name, needsPlace) - (role == nullptr ? 0 : role->replicas);
    // Until its owner has taken back all pods that it does not want, an open place may be one that it fills
    // again: of a failed pod with a low index.
    if (countOf(members, name, isOpen) < surplus || countOf(members, name, isLeaving) > 0) continue;
    for (const Member& each : last) {
      if (surplus <= 0) break;
      if (each.role != name || !isOpen(each)) continue;
      abandoned.push_back(each);
      --surplus;
    }
  }
  return abandoned;
}

std::optional<base::WallTime> abandonedAt(const Job& job, const std::vector<Member>& members) {
  if (!isOfBarePods(job) || std::none_of(members.begin(), members.end(), isOpen)) return std::nullopt;
  const auto since = openSince(job);
  return since ? std::optional(*since + kKeepPlaces) : std::nullopt;
}

void setPodsMissing(const Job& job, const std::vector<Member>& members, std::string_view refusal,
                    base::WallTime now, model::JobStatus& status) {
  std::string names;
  std::size_t open = 0;
  for (const Member& each : members) {
    if (!isOpen(each) || ++open > kNamed) continue;
    names += fmt::format("{}{}-{}", names.empty() ? "" : ", ", each.role, each.index);
  }
  const auto set = [&](model::ConditionStatus value, std::string_view reason, std::string message) {
    model::setCondition(status.conditions, model::conditions::kPodsMissing, value, reason, std::move(message),
                        now, job.generation);
  };
  if (open > 0) {
    return set(model::ConditionStatus::kTrue, "PodsMissing",
               fmt::format("{} of {} without a pod: {}{}{}{}", open,
                           model::counted(static_cast<std::int64_t>(members.size()), "place"), names,
                           open > kNamed ? ", …" : "",
                           refusal.empty() ? "" : "; a pod that has arrived stays gated: ", refusal));
  }
  if (openSince(job)) set(model::ConditionStatus::kFalse, "Complete", "every place has its pod");
}

}  // namespace trainyard::core
