#include "codec/workload_roles.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/saturating.h"
#include "codec/field_at.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kAsGang = "trainyard.dev/as-gang";
constexpr std::size_t kMaxRoleName = 16;
constexpr int kMaxReplicas = 10'000;

// "worker-a" and "Worker" become "workera" and "worker"; a name that begins with a digit gets a letter.
std::string roleNameOf(std::string_view name) {
  std::string role;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      role.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  if (role.empty() || std::isdigit(static_cast<unsigned char>(role.front())) != 0) role.insert(0, "r");
  return role.substr(0, kMaxRoleName);
}

// Collects roles; two whose names become one get a number.
class Roles {
 public:
  void add(std::string_view name, std::int64_t replicas, const Field& podTemplate, std::string path,
           std::int64_t groupSize = 0) {
    if (replicas <= 0) return;
    if (replicas > kMaxReplicas) return podTemplate.complain("has more than 10000 pods");
    roles_.push_back({unusedName(roleNameOf(name)), std::string(name), static_cast<int>(replicas),
                      static_cast<int>(groupSize), podTemplate, std::move(path)});
  }
  [[nodiscard]] std::vector<WorkloadRole> take() { return std::move(roles_); }

 private:
  [[nodiscard]] std::string unusedName(std::string name) const {
    const auto isUsed = [&](const std::string& each) {
      return std::any_of(roles_.begin(), roles_.end(), [&](const auto& role) { return role.name == each; });
    };
    if (!isUsed(name)) return name;
    for (int number = 2;; ++number) {
      const std::string suffix = fmt::to_string(number);
      const std::string numbered = name.substr(0, kMaxRoleName - suffix.size()) + suffix;
      if (!isUsed(numbered)) return numbered;
    }
  }

  std::vector<WorkloadRole> roles_;
};

// The pods of a Job at a time, if so many have succeeded.
std::int64_t podsOfJob(const Field& spec, std::int64_t succeeded = 0) {
  const std::int64_t parallelism = spec["parallelism"].integer(1, 0, INT32_MAX);
  const Field completions = spec["completions"];
  if (!completions.present()) return parallelism;
  const std::int64_t all = completions.integer(1, 0, INT32_MAX);
  // Its end is reported a moment after its last success.
  const std::int64_t left = all > 0 ? std::max<std::int64_t>(all - succeeded, 1) : 0;
  return std::min(parallelism, left);
}

std::string pointerTo(std::string_view path) {
  std::string pointer = fmt::format("/{}", path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

void readReplicatedJobs(const Field& list, const std::string& path, Roles& roles) {
  int index = 0;
  list.forEachElement([&](const Field& each) {
    const Field job = each["template"]["spec"];
    const std::int64_t podsEach = podsOfJob(job);
    roles.add(each["name"].text("worker"),
              base::saturatingMultiply(each["replicas"].integer(1, 0, INT32_MAX), podsEach), job["template"],
              fmt::format("{}/{}/template/spec/template", path, index++), podsEach);
  });
}

void readReplicaSpecs(const Field& map, const std::string& path, Roles& roles) {
  map.forEachMember([&](std::string_view name, const Field& each) {
    roles.add(name, each["replicas"].integer(1, 0, INT32_MAX), each["template"],
              fmt::format("{}/{}/template", path, name));
  });
}

void readRay(const Field& cluster, const std::string& path, Roles& roles) {
  roles.add("head", 1, cluster["headGroupSpec"]["template"], path + "/headGroupSpec/template");
  int index = 0;
  cluster["workerGroupSpecs"].forEachElement([&](const Field& each) {
    const std::int64_t pods = base::saturatingMultiply(each["replicas"].integer(0, 0, INT32_MAX),
                                                       each["numOfHosts"].integer(1, 1, INT32_MAX));
    roles.add(each["groupName"].text("worker"), pods, each["template"],
              fmt::format("{}/workerGroupSpecs/{}/template", path, index++));
  });
}

}  // namespace

std::vector<WorkloadRole> readWorkloadRoles(const model::OwnerKind& kind, const Field& root) {
  const Field pods = fieldAt(root, kind.podsIn);
  const std::string path = pointerTo(kind.podsIn);
  Roles roles;
  switch (kind.form) {
    case model::WorkloadForm::kJob:
      roles.add("worker", podsOfJob(pods, root["status"]["succeeded"].integer(0, 0, INT32_MAX)),
                pods["template"], path + "/template");
      break;
    case model::WorkloadForm::kReplicatedJobs: readReplicatedJobs(pods, path, roles); break;
    case model::WorkloadForm::kReplicaSpecs: readReplicaSpecs(pods, path, roles); break;
    case model::WorkloadForm::kRayCluster: readRay(pods, path, roles); break;
    case model::WorkloadForm::kJobSetOfName: break;
  }
  return roles.take();
}

bool isGangOfPods(const model::OwnerKind& kind, const Field& root) {
  if (kind.form != model::WorkloadForm::kJob) return true;
  const Field spec = root["spec"];
  // With fewer pods at a time than completions, later pods start as earlier ones end.
  const bool allAtOnce = !spec["completions"].present() || spec["parallelism"].integer(1, 0, INT32_MAX) >=
                                                               spec["completions"].integer(1, 0, INT32_MAX);
  const Field asked = root["metadata"]["annotations"][kAsGang];
  if (!asked.present()) return allAtOnce && spec["completionMode"].text() == "Indexed";
  if (asked.text() != "true" && asked.text() != "false") asked.complain(R"(must be "true" or "false")");
  if (asked.text() == "true" && !allAtOnce)
    asked.complain("needs as many pods at a time as completions: set spec.parallelism to spec.completions");
  return asked.text() == "true";
}

}  // namespace trainyard::codec
