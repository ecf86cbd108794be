#include "codec/pod_template.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "model/limits.h"
#include "model/names.h"
#include "model/preflight.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kReservedPrefix = "trainyard.dev/";

void checkAbsent(const Field& field, std::string_view why) {
  if (field.present()) field.refuse(fmt::format("must be absent: {}", why));
}

void checkExactly(const Field& field, std::string_view only) {
  if (field.present() && field.text() != only) field.refuse(fmt::format("must be {} or absent", only));
}

void checkAtMost(const Field& field, std::size_t have, std::size_t most, std::string_view what) {
  if (have > most) field.complain(fmt::format("has {} {}: at most {} are allowed", have, what, most));
}

std::size_t membersOf(const Field& map) {
  std::size_t count = 0;
  map.value().forEachMember([&](std::string_view, JsonValue) { ++count; });
  return count;
}

std::size_t elementsOf(const Field& list) {
  std::size_t count = 0;
  list.value().forEachElement([&](JsonValue) { ++count; });
  return count;
}

bool isExtended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos && !resource.starts_with("kubernetes.io/");
}

// Extended resources such as GPUs are assigned in whole pieces and never overcommitted.
void checkExtendedRequest(std::string_view name, const Field& request, const JsonValue& limit,
                          base::Quantity requested, base::Quantity allowed) {
  if (requested.milli() % 1000 != 0) {
    request.refuse("must be a whole number");
  } else if (!limit.present()) {
    request.complain(fmt::format("needs the same limit: {} cannot be overcommitted", name));
  } else if (allowed != requested) {
    request.refuse(fmt::format("must equal the limit of {}", limit.minified()));
  }
}

void checkResources(const Field& resources) {
  const Field limits = resources["limits"];
  for (const Field& list : {limits, resources["requests"]}) {
    checkAtMost(list, membersOf(list), model::limits::kResourceEntries, "resources");
    if (membersOf(list) > model::limits::kResourceEntries) return;
  }
  limits.forEachMember([&](std::string_view name, const Field& limit) {
    if (isExtended(name) && limit.quantity().milli() % 1000 != 0) limit.refuse("must be a whole number");
  });
  resources["requests"].forEachMember([&](std::string_view name, const Field& request) {
    const JsonValue limit = limits.value().find(name);
    FieldErrors ignored;
    const base::Quantity allowed = Field(limit, ignored).quantity();
    const base::Quantity requested = request.quantity();
    if (isExtended(name)) return checkExtendedRequest(name, request, limit, requested, allowed);
    if (limit.present() && !ignored.any() && requested > allowed) {
      request.refuse(fmt::format("must not exceed the limit of {}", limit.minified()));
    }
  });
}

void checkContainers(const Field& spec) {
  std::set<std::string> names;
  const auto check = [&](const Field& container) {
    const Field name = container["name"];
    if (!names.insert(std::string(name.required())).second) name.refuse("must be used once only");
    if (name.text() == model::kPreflightContainer) name.refuse("is the name of the check of the node");
    if (const Field resources = container["resources"]; resources.present()) checkResources(resources);
  };
  spec["initContainers"].forEachElement(check);
  int containers = 0;
  spec["containers"].forEachElement([&](const Field& container) {
    ++containers;
    check(container);
  });
  if (containers == 0) spec["containers"].complain("needs at least one container");
}

// Counts the values in node selector terms.
std::size_t countTerms(const JsonValue& terms) {
  std::size_t words = 0;
  terms.forEachElement([&](JsonValue term) {
    for (const std::string_view list : {"matchExpressions", "matchFields"})
      words += countExpressions(term.find(list));
  });
  return words;
}

// Counts the values in pod affinity terms.
std::size_t wordsOfSelectors(const JsonValue& terms) {
  std::size_t words = 0;
  terms.forEachElement([&](JsonValue term) {
    const JsonValue selector = term.find("labelSelector");
    words += countExpressions(selector.find("matchExpressions"));
    selector.find("matchLabels").forEachMember([&](std::string_view, JsonValue) { ++words; });
  });
  return words;
}

}  // namespace

std::size_t countExpressions(const JsonValue& expressions) {
  std::size_t words = 0;
  expressions.forEachElement([&](JsonValue expression) {
    ++words;
    expression.find("values").forEachElement([&](JsonValue) { ++words; });
  });
  return words;
}

void checkPodConstraints(const Field& spec) {
  const Field tolerations = spec["tolerations"];
  checkAtMost(tolerations, elementsOf(tolerations), model::limits::kTolerations, "tolerations");
  const Field selector = spec["nodeSelector"];
  checkAtMost(selector, membersOf(selector), model::limits::kSelectorValues, "labels");
  const Field terms =
      spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  checkAtMost(terms, elementsOf(terms) + countTerms(terms.value()), model::limits::kSelectorValues,
              "terms, expressions and values");
  std::size_t preferred = 0;
  const Field preferences =
      spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
  preferences.value().forEachElement([&](JsonValue each) {
    ++preferred;
    const JsonValue term = each.find("preference");
    for (const std::string_view list : {"matchExpressions", "matchFields"})
      preferred += countExpressions(term.find(list));
  });
  checkAtMost(preferences, preferred, model::limits::kSelectorValues, "terms, expressions and values");
  const Field apart = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (elementsOf(apart) <= model::limits::kResourceNames)  // otherwise refused for its length
    checkAtMost(apart, wordsOfSelectors(apart.value()), model::limits::kSelectorValues,
                "expressions and values");
  std::size_t claims = 0;
  const Field volumes = spec["volumes"];
  volumes.value().forEachElement(
      [&](JsonValue volume) { claims += volume.find("persistentVolumeClaim").present() ? 1 : 0; });
  checkAtMost(volumes, claims, model::limits::kVolumeClaims, "persistent volume claims");
}

void checkPodTemplate(const Field& podTemplate, std::string_view priorityClassName) {
  podTemplate["metadata"]["labels"].forEachMember([](std::string_view name, const Field& label) {
    if (name.starts_with(kReservedPrefix)) label.complain("labels of trainyard.dev are set by the operator");
  });
  checkAbsent(podTemplate["metadata"]["finalizers"], "an ended pod must not keep its node");
  const Field spec = podTemplate["spec"];
  if (!spec.present()) return spec.complain("is required");
  checkContainers(spec);
  checkPodConstraints(spec);
  checkExactly(spec["restartPolicy"], "Never");
  checkExactly(spec["schedulerName"], "default-scheduler");
  checkAbsent(spec["nodeName"], "the operator chooses the nodes");
  if (const Field own = spec["priorityClassName"]; own.present() && own.text() != priorityClassName)
    own.refuse("must be absent, or that of spec.priorityClassName: a job and its pods have one priority");
  checkAbsent(spec["preemptionPolicy"], "the PriorityClass decides");
  checkAbsent(spec["schedulingGates"], "the operator sets its own");
  checkAbsent(spec["hostname"], "members are named by the operator");
  checkAbsent(spec["subdomain"], "members are named by the operator");
}

}  // namespace trainyard::codec
