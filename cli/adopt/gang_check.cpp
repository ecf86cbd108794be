#include "cli/adopt/gang_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codec/gang_object.h"
#include "codec/workload.h"
#include "model/gang.h"

namespace trainyard::cli {
namespace {

// What the CRD refuses; the operator's own checks come after the API server's.
void noteSchema(const model::Gang& gang, Adoption& adoption) {
  if (!isQueueName(gang.spec.queue.str()))
    adoption.cannotWork(
        fmt::format("label trainyard.dev/queue: \"{}\" is no name of a Queue", gang.spec.queue.str()));
  const std::string& level = gang.spec.locality.required;
  if (!level.empty() && !isLevelName(level))
    adoption.cannotWork(
        fmt::format("annotation trainyard.dev/locality: \"{}\" is no name of a topology level", level));
}

int checkGang(const std::string& json, Adoption& adoption) {
  const auto gang = codec::decodeGang(json);
  if (!gang) {
    adoption.cannotWork(gang.error().message);
    return 0;
  }
  if (!gang->specError.empty()) {
    adoption.cannotWork("the operator refuses its Gang: " + gang->specError);
    return 0;
  }
  noteSchema(*gang, adoption);
  for (const std::string& less : gang->spec.unsupported)
    adoption.changed("written as it was, but with less effect: " + less);
  std::vector<std::string> roles;
  int pods = 0;
  for (const model::Role& each : gang->spec.roles) {
    roles.push_back(fmt::format("{} {}", each.replicas, each.name));
    pods += each.replicas;
  }
  if (pods > 1)
    adoption.kept(fmt::format("Gang {}: {} start together", gang->key.name, fmt::join(roles, ", ")));
  return pods;
}

// With what the API server adds.
Json asCreated(const model::OwnerKind& kind, const Json& object, const std::string& name) {
  Json whole = object;
  whole["kind"] = kind.kind;
  Json& meta = whole["metadata"];
  if (!get(meta, "name").is_string()) meta["name"] = name.empty() ? "NAME" : name;
  meta["uid"] = "uid";
  return whole;
}

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

bool isGang(const model::OwnerKind& kind, const Json& object) {
  const auto workload = codec::decodeWorkload(kind, dumped(asCreated(kind, object, "NAME")));
  return !workload || !workload->gang.empty() || !workload->error.empty();
}

int checkOwner(const model::OwnerKind& kind, const Json& object, Adoption& adoption) {
  const auto workload = codec::decodeWorkload(kind, dumped(asCreated(kind, object, adoption.name())));
  if (!workload) {
    adoption.cannotWork(workload.error().message);
    return 0;
  }
  if (!workload->error.empty()) {
    adoption.cannotWork(workload->error);
    return 0;
  }
  return workload->gang.empty() ? 0 : checkGang(workload->gang, adoption);
}

void checkPods(const std::string& gang, const std::vector<codec::RoleOfPods>& roles, Adoption& adoption) {
  const auto json = codec::encodeGangOfPods({adoption.space(), gang}, roles);
  if (!json) return adoption.cannotWork(json.error().message);
  checkGang(*json, adoption);
}

}  // namespace trainyard::cli
