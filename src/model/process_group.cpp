#include "model/process_group.h"

#include <algorithm>
#include <array>

#include "model/gang_size.h"
#include "model/late_members.h"

namespace trainyard::model {
namespace {

constexpr std::array<std::string_view, 3> kCoordinators{"master", "chief", "worker"};
constexpr std::array<std::string_view, 5> kOutsiders{"ps", "scheduler", "server", kLauncherRole, "evaluator"};

bool isOutsider(std::string_view role) {
  return std::find(kOutsiders.begin(), kOutsiders.end(), role) != kOutsiders.end();
}

}  // namespace

std::vector<const Role*> rankedRoles(const JobSpec& spec) {
  std::vector<const Role*> roles;
  for (const Role& role : spec.roles) {
    if (!isOutsider(role.name)) roles.push_back(&role);
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

bool sendsParameters(std::string_view role) { return role == "ps" || role == "server"; }

int groupSize(const Job& job) {
  int size = 0;
  for (const Role* role : rankedRoles(job.spec)) size += announcedMembers(job, *role);
  return size;
}

std::int64_t slotsOf(const Role& role) { return std::max<std::int64_t>(1, role.shape.requests.gpus()); }

bool launchesOverSsh(const Job& job) {
  const bool launches = job.spec.framework == Framework::kMpi || job.spec.framework == Framework::kHorovod;
  return launches && gangMembers(job) > 1;
}

}  // namespace trainyard::model
