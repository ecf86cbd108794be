#include "model/process_group.h"

#include <algorithm>
#include <array>

#include "model/gang_size.h"
#include "model/late_members.h"

namespace trainyard::model {
namespace {

constexpr std::array<std::string_view, 3> kCoordinators{"master", "chief", "worker"};

// A role that is not part of the process group.
struct Outsider {
  std::string_view role;
  bool sendsParameters;
};

constexpr std::array kOutsiders{Outsider{"ps", true}, Outsider{"scheduler", false}, Outsider{"server", true},
                                Outsider{kLauncherRole, false}, Outsider{"evaluator", false}};

const Outsider* outsider(std::string_view role) {
  const auto at = std::find_if(kOutsiders.begin(), kOutsiders.end(),
                               [&](const Outsider& each) { return each.role == role; });
  return at == kOutsiders.end() ? nullptr : &*at;
}

}  // namespace

std::vector<const Role*> rankedRoles(const JobSpec& spec) {
  std::vector<const Role*> roles;
  for (const Role& role : spec.roles) {
    if (outsider(role.name) == nullptr) roles.push_back(&role);
  }
  std::stable_sort(roles.begin(), roles.end(), [](const Role* a, const Role* b) {
    const auto place = [](const Role* role) {
      return std::find(kCoordinators.begin(), kCoordinators.end(), role->name) - kCoordinators.begin();
    };
    return place(a) < place(b);
  });
  return roles;
}

std::optional<int> memberRank(const Job& job, std::string_view role, int index) {
  int before = 0;
  for (const Role* each : rankedRoles(job.spec)) {
    if (each->name == role) return before + index;
    before += announcedMembers(job, *each);
  }
  return std::nullopt;
}

std::optional<std::pair<const Role*, int>> memberOfRank(const Job& job, int rank) {
  int before = 0;
  for (const Role* each : rankedRoles(job.spec)) {
    const int members = announcedMembers(job, *each);
    if (rank >= before && rank - before < members) return std::pair(each, rank - before);
    before += members;
  }
  return std::nullopt;
}

bool sendsParameters(std::string_view role) {
  const Outsider* found = outsider(role);
  return found != nullptr && found->sendsParameters;
}

int groupSize(const Job& job) {
  int size = 0;
  for (const Role* role : rankedRoles(job.spec)) size += announcedMembers(job, *role);
  return size;
}

std::int64_t slotsOf(const Role& role) { return std::max<std::int64_t>(1, role.shape.requests.gpus()); }

bool launchesOverSsh(const Job& job) {
  return traitsOf(job.spec.framework).launchesOverSsh && gangMembers(job) > 1;
}

}  // namespace trainyard::model
