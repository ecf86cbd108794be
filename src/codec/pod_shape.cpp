#include "codec/pod_shape.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

using model::NodeSelectorTerm;
using model::SelectorOperator;
using model::SelectorRequirement;

// Far more than a pod has; each costs work whenever devices change.
constexpr std::size_t kMaxDeviceClaims = 64;

std::optional<model::TaintEffect> parseEffect(const Field& field) {
  const std::string_view text = field.text();
  if (text == "NoSchedule") return model::TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return model::TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return model::TaintEffect::kNoExecute;
  if (!text.empty()) field.refuse("must be NoSchedule, PreferNoSchedule or NoExecute");
  return std::nullopt;
}

SelectorOperator parseOperator(const Field& field) {
  const std::string_view text = field.text();
  if (text == "In") return SelectorOperator::kIn;
  if (text == "NotIn") return SelectorOperator::kNotIn;
  if (text == "Exists") return SelectorOperator::kExists;
  if (text == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  if (text == "Gt") return SelectorOperator::kGt;
  if (text == "Lt") return SelectorOperator::kLt;
  field.refuse("must be In, NotIn, Exists, DoesNotExist, Gt or Lt");
  return SelectorOperator::kIn;
}

std::vector<SelectorRequirement> readRequirements(const Field& list) {
  std::vector<SelectorRequirement> requirements;
  list.forEachElement([&](const Field& each) {
    SelectorRequirement requirement{each["key"].string(), parseOperator(each["operator"]), {}};
    each["values"].forEachElement([&](const Field& value) { requirement.values.push_back(value.string()); });
    requirements.push_back(std::move(requirement));
  });
  return requirements;
}

std::vector<std::string> readVolumeClaims(const Field& volumes) {
  std::vector<std::string> claims;
  volumes.forEachElement([&](const Field& volume) {
    const std::string name = volume["persistentVolumeClaim"]["claimName"].string();
    if (!name.empty()) claims.push_back(name);
  });
  return claims;
}

std::vector<model::EphemeralVolume> readEphemeralVolumes(const Field& volumes) {
  std::vector<model::EphemeralVolume> ephemeral;
  volumes.forEachElement([&](const Field& volume) {
    const Field spec = volume["ephemeral"]["volumeClaimTemplate"]["spec"];
    if (!spec.present()) return;
    model::EphemeralVolume each{volume["name"].string()};
    if (const Field name = spec["storageClassName"]; name.present()) each.storageClass = name.string();
    each.bytes = spec["resources"]["requests"]["storage"].quantity().unitsRoundedUp();
    ephemeral.push_back(std::move(each));
  });
  return ephemeral;
}

std::vector<model::Toleration> readTolerations(const Field& list) {
  std::vector<model::Toleration> tolerations;
  list.forEachElement([&](const Field& each) {
    model::Toleration toleration;
    toleration.key = each["key"].string();
    toleration.value = each["value"].string();
    const Field op = each["operator"];
    toleration.exists = op.text("Equal") == "Exists";
    toleration.effect = parseEffect(each["effect"]);
    // Lt and Gt compare numbers, behind a feature gate that is off by default. Such a toleration is read as
    // one that tolerates nothing, so that placement is never more permissive than kube-scheduler.
    if (op.text("Equal") == "Equal" || toleration.exists) tolerations.push_back(std::move(toleration));
  });
  return tolerations;
}

}  // namespace

std::vector<std::string> readClaimsOfPod(const Field& podSpec, std::string_view podName) {
  std::vector<std::string> claims = readVolumeClaims(podSpec["volumes"]);
  podSpec["volumes"].forEachElement([&](const Field& volume) {
    if (volume["ephemeral"].present()) claims.push_back(fmt::format("{}-{}", podName, volume["name"].text()));
  });
  return claims;
}

std::vector<model::DeviceClaimRef> readDeviceClaims(const Field& list) {
  std::vector<model::DeviceClaimRef> claims;
  list.forEachElement([&](const Field& each) {
    if (claims.size() < kMaxDeviceClaims) {
      claims.push_back({each["name"].string(), each["resourceClaimTemplateName"].string(),
                        each["resourceClaimName"].string()});
    } else if (claims.size() == kMaxDeviceClaims) {
      claims.push_back({"more", "", ""});  // names nothing, so that it counts as a claim on anything
    }
  });
  return claims;
}

std::vector<NodeSelectorTerm> readNodeSelectorTerms(const Field& list) {
  std::vector<NodeSelectorTerm> terms;
  list.forEachElement([&](const Field& term) {
    terms.push_back({readRequirements(term["matchExpressions"]), readRequirements(term["matchFields"])});
  });
  return terms;
}

std::optional<std::vector<NodeSelectorTerm>> readRequiredAffinity(const Field& podSpec) {
  const Field affinity = podSpec["affinity"];
  if (!affinity.present()) return std::nullopt;
  const Field required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (!required.present()) return std::nullopt;
  return readNodeSelectorTerms(required["nodeSelectorTerms"]);
}

std::vector<NodeSelectorTerm> readPreferredAffinity(const Field& podSpec) {
  std::vector<NodeSelectorTerm> terms;
  const Field affinity = podSpec["affinity"];
  if (!affinity.present()) return terms;
  affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"].forEachElement(
      [&](const Field& each) {
        const Field term = each["preference"];
        terms.push_back({readRequirements(term["matchExpressions"]), readRequirements(term["matchFields"])});
      });
  return terms;
}

model::Labels readLabels(const Field& map) {
  std::vector<std::pair<std::string, std::string>> entries;
  map.forEachMember(
      [&](std::string_view name, const Field& value) { entries.emplace_back(name, value.text()); });
  return model::Labels(std::move(entries));
}

model::Resources readOffered(const Field& map, CountedNames& names) {
  model::Resources offered;
  map.forEachMember([&](std::string_view name, const Field& quantity) {
    addResource(offered, name, quantity, Rounding::kDown, names);
  });
  return offered;
}

std::chrono::seconds readGracePeriod(const Field& podSpec) {
  constexpr std::int64_t kDefault = 30;
  constexpr std::int64_t kLongest = 10LL * 365 * 24 * 3600;
  const std::int64_t given = podSpec["terminationGracePeriodSeconds"].integer(kDefault, INT64_MIN, INT64_MAX);
  return std::chrono::seconds(std::clamp<std::int64_t>(given, 0, kLongest));
}

model::PodShape readPodShape(const Field& podSpec, const ContainerReports& reports, CountedNames& names) {
  model::PodShape shape;
  shape.requests = readPodRequests(podSpec, reports, names);
  shape.nodeSelector = readLabels(podSpec["nodeSelector"]);
  shape.affinity = readRequiredAffinity(podSpec);
  shape.preferred = readPreferredAffinity(podSpec);
  shape.tolerations = readTolerations(podSpec["tolerations"]);
  shape.volumeClaims = readVolumeClaims(podSpec["volumes"]);
  shape.ephemeralVolumes = readEphemeralVolumes(podSpec["volumes"]);
  shape.deviceClaims = readDeviceClaims(podSpec["resourceClaims"]);
  return shape;
}

}  // namespace trainyard::codec
