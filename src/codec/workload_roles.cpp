#include "codec/workload_roles.h"

#include <algorithm>
#include <cctype>
#include <charconv>

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
    // One without pods stays: its controller may make some while the gang runs.
    if (replicas > kMaxReplicas) return podTemplate.complain("has more than 10000 pods");
    roles_.push_back({unusedName(roleNameOf(name)), std::string(name), static_cast<int>(replicas),
                      static_cast<int>(groupSize), podTemplate, std::move(path)});
  }
  // None if no role has pods.
  [[nodiscard]] std::vector<WorkloadRole> take() {
    const bool any =
        std::any_of(roles_.begin(), roles_.end(), [](const auto& each) { return each.replicas > 0; });
    return any ? std::move(roles_) : std::vector<WorkloadRole>();
  }

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

// The number of indices in a list such as "1,3-5". What cannot be read counts as none.
std::int64_t countIndices(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::string_view each = list.substr(0, list.find(','));
    list.remove_prefix(std::min(each.size() + 1, list.size()));
    std::int64_t first = 0;
    const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), first);
    std::int64_t last = first;
    if (error == std::errc{} && end != each.data() + each.size())
      std::from_chars(end + 1, each.data() + each.size(), last);
    if (error == std::errc{} && last >= first) count += last - first + 1;
  }
  return count;
}

// The pods of a Job at a time, if so many of its completions have ended, well or for good.
std::int64_t podsOfJob(const Field& spec, std::int64_t ended = 0) {
  const std::int64_t parallelism = spec["parallelism"].integer(1, 0, INT32_MAX);
  const Field completions = spec["completions"];
  if (!completions.present()) return parallelism;
  const std::int64_t all = completions.integer(1, 0, INT32_MAX);
  // Its end is reported a moment after that of its last pod.
  const std::int64_t left = all > 0 ? std::max<std::int64_t>(all - ended, 1) : 0;
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

// As KubeRay: its bounds count more than the number, which its autoscaler writes.
std::int64_t podsOfRayGroup(const Field& group) {
  if (group["suspend"].boolean(false)) return 0;
  const std::int64_t least = group["minReplicas"].integer(0, 0, INT32_MAX);
  const std::int64_t most = std::max(group["maxReplicas"].integer(INT32_MAX, 0, INT32_MAX), least);
  return base::saturatingMultiply(std::clamp(group["replicas"].integer(least, 0, INT32_MAX), least, most),
                                  group["numOfHosts"].integer(1, 1, INT32_MAX));
}

void readRay(const Field& cluster, const std::string& path, Roles& roles) {
  roles.add("head", 1, cluster["headGroupSpec"]["template"], path + "/headGroupSpec/template");
  int index = 0;
  cluster["workerGroupSpecs"].forEachElement([&](const Field& each) {
    roles.add(each["groupName"].text("worker"), podsOfRayGroup(each), each["template"],
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
      roles.add("worker",
                podsOfJob(pods, root["status"]["succeeded"].integer(0, 0, INT32_MAX) +
                                    countIndices(root["status"]["failedIndexes"].text())),
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
