#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/adopt/adopt_kinds.h"
#include "cli/adopt/gang_check.h"
#include "codec/gang_name_of.h"
#include "model/gang_name.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

constexpr const char* kGangSize = "trainyard.dev/gang-size";
constexpr std::int64_t kMaxPods = 1'000'000;
constexpr const char* kTogether = "trainyard.dev/as-gang";
const std::string kGang(model::names::kGangLabel);
const std::string kGangRole(model::names::kGangRoleLabel);

struct PodKind {
  std::string_view kind;
  std::string_view group;
};

constexpr std::array<PodKind, 7> kPodKinds{{{"Pod", ""},
                                            {"ReplicationController", ""},
                                            {"Deployment", "apps"},
                                            {"StatefulSet", "apps"},
                                            {"ReplicaSet", "apps"},
                                            {"LeaderWorkerSet", "leaderworkerset.x-k8s.io"},
                                            {"RayService", "ray.io"}}};

// A template of an object, and how many pods the object has of it.
struct Template {
  std::string role;
  std::string path;
  std::int64_t pods = 1;
};

// Its RayClusters come and go, so that their pods are placed one by one.
std::vector<Template> templatesOfService(const Json& object) {
  const std::string path = "spec.rayClusterConfig";
  std::vector<Template> all{{"head", path + ".headGroupSpec.template", 1}};
  const std::size_t groups = listOf(get(object, "spec", "rayClusterConfig", "workerGroupSpecs")).size();
  for (std::size_t i = 0; i < groups; ++i)
    all.push_back({"worker", fmt::format("{}.workerGroupSpecs.{}.template", path, i), 1});
  return all;
}

std::vector<Template> templatesOf(const Json& object) {
  const std::string kind = textOf(get(object, "kind"));
  if (kind == "Pod") return {{"worker", "", 1}};
  if (kind == "RayService") return templatesOfService(object);
  const std::int64_t replicas = countOf(get(object, "spec", "replicas"));
  if (kind != "LeaderWorkerSet") return {{"worker", "spec.template", replicas}};
  const std::string path = "spec.leaderWorkerTemplate";
  const Json group = get(object, "spec", "leaderWorkerTemplate");
  const std::int64_t size = countOf(get(group, "size"));
  std::vector<Template> all;
  const bool leads = get(group, "leaderTemplate").is_object();
  if (leads) all.push_back({"leader", path + ".leaderTemplate", replicas});
  if (const std::int64_t workers = replicas * (size - (leads ? 1 : 0)); workers > 0 || !leads)
    all.push_back({"worker", path + ".workerTemplate", workers});
  return all;
}

Json::json_pointer pointerTo(const std::string& path) {
  std::string pointer = path.empty() ? "" : "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return Json::json_pointer(pointer);
}

std::string gangIn(const Json& podTemplate) {
  return textOf(get(podTemplate, "metadata", "labels", kGang.c_str()));
}

std::string sizeKey(const Json& object, const std::string& gang) {
  return fmt::format("{}/{}", textOf(get(object, "metadata", "namespace")), gang);
}

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Adds the marks of one object's templates.
class PodAdopter {
 public:
  PodAdopter(const GangSizes& sizes, Adoption& adoption)
      : sizes_(sizes), adoption_(adoption), object_(adoption.object()), templates_(templatesOf(object_)) {}

  void adopt() {
    for (const Template& each : templates_) {
      const auto pointer = pointerTo(each.path);
      if (!object_.contains(pointer) || !get(object_[pointer], "spec").is_object())
        return adoption_.cannotWork(
            fmt::format("{}: has no spec", each.path.empty() ? "the pod" : each.path));
    }
    chooseGang();
    std::vector<codec::RoleOfPods> roles;
    for (const Template& each : templates_) {
      Json& pod = object_[pointerTo(each.path)];
      adoption_.writeWishes(pod, each.path);
      if (!gang_.empty()) addGang(each, pod);
      addGate(each, pod);
      roles.push_back({isOfGroups() ? each.role : roleOf(pod), podsOf(each, pod),
                       pod.dump(-1, ' ', false, Json::error_handler_t::replace)});
    }
    check(roles);
    noteGang();
  }

 private:
  // A gang is what the object asks for by a label, an annotation or its kind.
  void chooseGang() {
    for (const Template& each : templates_) {
      if (gang_.empty()) gang_ = gangIn(object_[pointerTo(each.path)]);
    }
    if (!gang_.empty()) {
      const auto found = sizes_.find(sizeKey(object_, gang_));
      size_ = found == sizes_.end() ? pods() : found->second;
      return;
    }
    const bool asked =
        adoption_.asGang() || textOf(get(object_, "metadata", "annotations", kTogether)) == "true";
    if (kind() != "Pod" && kind() != "RayService" && asked && pods() > 1) {
      gang_ = adoption_.name();
      if (sizes_.contains(sizeKey(object_, gang_))) gang_ = fmt::format("{}-{}", gang_, lowered(kind()));
      size_ = pods();
      return;
    }
  }

  void addGang(const Template& each, Json& pod) {
    adoption_.addMark(pod, each.path, "labels", kGang, gang_);
    if (templates_.size() > 1) adoption_.addMark(pod, each.path, "labels", kGangRole, each.role);
    const Json own = get(pod, "metadata", "annotations", kGangSize);
    if (own.is_null())
      return adoption_.addMark(pod, each.path, "annotations", kGangSize, std::to_string(size_));
    if (own != std::to_string(size_))
      adoption_.changed(placeOf(each.path, fmt::format("{}: {}, and the files have {} pods of gang {}",
                                                       kGangSize, textOf(own), size_, gang_)));
  }

  void addGate(const Template& each, Json& pod) {
    const std::string gate(model::names::kPlaceGate);
    Json gates = listOf(get(pod, "spec", "schedulingGates"));
    for (const Json& other : gates) {
      if (get(other, "name") == gate) return;
    }
    Json added = Json::object();
    added["name"] = gate;
    gates.push_back(std::move(added));
    pod["spec"]["schedulingGates"] = std::move(gates);
    adoption_.added(placeOf(each.path, fmt::format("gate {}", gate)));
  }

  // As the operator counts them: pods without a role's name are all alike.
  [[nodiscard]] int podsOf(const Template& part, const Json& pod) const {
    if (isOfGroups()) {
      const std::int64_t groups = std::max<std::int64_t>(countOf(get(object_, "spec", "replicas")), 1);
      return static_cast<int>(std::clamp<std::int64_t>(part.pods / groups, 1, kMaxPods));
    }
    if (gang_.empty()) return 1;
    const bool isNamed = !get(pod, "metadata", "labels", kGangRole.c_str()).is_null();
    return static_cast<int>(std::clamp<std::int64_t>(isNamed ? part.pods : size_, 1, kMaxPods));
  }

  void check(const std::vector<codec::RoleOfPods>& roles) {
    if (!gang_.empty())
      return checkPods(model::isGangName(gang_) ? gang_ : codec::gangNameOf(gang_, "pods"), roles, adoption_);
    if (isOfGroups()) return checkPods(codec::gangNameOf(adoption_.name() + "-0", "group"), roles, adoption_);
    for (const codec::RoleOfPods& each : roles) checkPods("pod.pod", {each}, adoption_);
  }

  void noteGang() {
    if (gang_.empty() && !isOfGroups()) return;
    if (kind() == "Deployment" && get(object_, "spec", "strategy", "type") != "Recreate" &&
        get(object_, "spec", "strategy", "rollingUpdate", "maxSurge") != 0)
      adoption_.changed(
          "spec.strategy: a pod beyond the gang's size stays gated: an update needs maxSurge 0, or type "
          "Recreate");
    if (kind() == "LeaderWorkerSet" && !isOfGroups() &&
        get(object_, "spec", "startupPolicy") == "LeaderReady" && templates_.size() > 1)
      adoption_.cannotWork(
          "spec.startupPolicy: LeaderReady: the gang waits for pods of both roles: write LeaderCreated");
    constexpr const char* kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
    if (!get(object_, "metadata", "annotations", kExclusive).is_null())
      adoption_.cannotWork(
          fmt::format("annotation {}: it requires affinity, which no assigned node follows: "
                      "remove it, and write annotation trainyard.dev/locality",
                      kExclusive));
  }

  // Each of its groups is a gang by itself.
  [[nodiscard]] bool isOfGroups() const { return gang_.empty() && kind() == "LeaderWorkerSet"; }
  static std::string roleOf(const Json& pod) {
    const std::string role = textOf(get(pod, "metadata", "labels", kGangRole.c_str()));
    return role.empty() ? "worker" : role;
  }
  [[nodiscard]] std::string kind() const { return textOf(get(object_, "kind")); }
  [[nodiscard]] std::int64_t pods() const {
    std::int64_t all = 0;
    for (const Template& each : templates_) all += each.pods;
    return all;
  }

  const GangSizes& sizes_;
  Adoption& adoption_;
  Json& object_;
  const std::vector<Template> templates_;
  std::string gang_;       // empty: each pod is placed by itself
  std::int64_t size_ = 0;  // its pods
};

}  // namespace

bool hasOwnTemplates(const std::string& kind, const std::string& group) {
  return std::any_of(kPodKinds.begin(), kPodKinds.end(),
                     [&](const PodKind& each) { return each.kind == kind && each.group == group; });
}

void countPods(const Json& object, GangSizes& sizes) {
  for (const Template& each : templatesOf(object)) {
    const auto pointer = pointerTo(each.path);
    const std::string gang = object.contains(pointer) ? gangIn(object.at(pointer)) : "";
    if (!gang.empty()) sizes[sizeKey(object, gang)] += each.pods;
  }
}

void adoptPods(const GangSizes& sizes, Adoption& adoption) { PodAdopter(sizes, adoption).adopt(); }

}  // namespace trainyard::cli
