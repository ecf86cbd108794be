#include "codec/pod_apartness.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cut_text.h"
#include "codec/fnv128.h"
#include "codec/pod_shape.h"
#include "codec/pod_template.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/one_per_node.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";

// Longer selectors are replaced by a hash: the text becomes the name of an amount, which is copied and
// compared as often as short names are.
constexpr std::size_t kLongestSelector = 128;

Field requiredApart(const Field& podSpec) { return podSpec["affinity"]["podAntiAffinity"][kRequiredTerms]; }

std::set<std::string> valuesOf(const Field& expression) {
  std::set<std::string> values;
  expression["values"].forEachElement([&](const Field& value) { values.insert(value.string()); });
  return values;
}

// Returns true if the selector exceeds the limit of a job. The API server accepts a hundred thousand values.
bool isLong(const Field& selector) {
  return countExpressions(selector["matchExpressions"].value()) > model::limits::kSelectorValues;
}

std::string hashed(std::string_view text) {
  Fnv128 hash;
  hash.add(text);
  return hash.hex();
}

// Returns a canonical text of a label selector; empty if it selects no pods or all pods.
std::string selectorText(const Field& selector) {
  if (isLong(selector)) return fmt::format("long selector ({})", hashed(selector.value().minified()));
  std::vector<std::string> parts;
  const model::Labels labels = readLabels(selector["matchLabels"]);
  for (const auto& [key, value] : labels.entries()) parts.push_back(fmt::format("{}={}", key, value));
  selector["matchExpressions"].forEachElement([&](const Field& each) {
    parts.push_back(fmt::format("{} {} ({})", each["key"].text(), each["operator"].text(),
                                fmt::join(valuesOf(each), ",")));
  });
  std::sort(parts.begin(), parts.end());
  std::string text = fmt::format("{}", fmt::join(parts, ","));
  if (text.size() <= kLongestSelector) return text;
  return fmt::format("{}… ({})", base::cutText(text, kLongestSelector), hashed(text));
}

bool meets(const Field& expression, const model::Labels& labels) {
  const std::string_view op = expression["operator"].text();
  const std::string* value = labels.find(expression["key"].text());
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  const bool listed = value != nullptr && valuesOf(expression).contains(*value);
  return op == "In" ? listed : op == "NotIn" && !listed;
}

bool selects(const Field& selector, const model::Labels& labels) {
  const model::Labels wanted = readLabels(selector["matchLabels"]);
  bool all = std::all_of(wanted.entries().begin(), wanted.entries().end(), [&](const auto& entry) {
    const std::string* value = labels.find(entry.first);
    return value != nullptr && *value == entry.second;
  });
  selector["matchExpressions"].forEachElement([&](const Field& each) { all = all && meets(each, labels); });
  return all;
}

// Returns the name of the amount that represents such a term; nullopt if the term requires more than that.
std::optional<std::string> apartBy(const Field& term, std::string_view ns) {
  if (term["topologyKey"].text() != model::names::kHostnameLabel) return std::nullopt;
  const std::string selector = selectorText(term["labelSelector"]);
  if (selector.empty()) return std::nullopt;
  return fmt::format("{}{} in {}", model::kApartPrefix, selector, ns);
}

struct RoleField {
  std::string name;
  Field spec;
  model::Labels labels;
  std::set<std::string> apart;
};

// The labels that all members of the role have in common.
model::Labels labelsOf(const Field& podTemplate, std::string_view role, const model::ObjectKey& job) {
  auto entries = readLabels(podTemplate["metadata"]["labels"]).entries();
  entries.emplace_back(model::names::kJobNameLabel, job.name);
  entries.emplace_back(model::names::kRoleLabel, role);
  return model::Labels(std::move(entries));
}

std::vector<RoleField> readRoles(const Field& roles, const model::ObjectKey& job) {
  std::vector<RoleField> all;
  roles.forEachElement([&](const Field& element) {
    const std::string_view name = element["name"].text();
    const Field podTemplate = element.named(name)["template"];
    RoleField role{std::string(name), podTemplate["spec"], labelsOf(podTemplate, name, job), {}};
    requiredApart(role.spec).forEachUpTo(model::limits::kResourceNames, [&](const Field& term) {
      if (auto apart = apartBy(term, job.ns)) role.apart.insert(std::move(*apart));
    });
    all.push_back(std::move(role));
  });
  return all;
}

void checkAbsent(const Field& field) {
  if (field.present())
    field.complain("must be absent: members may only keep apart from members of their own job's namespace");
}

void checkTerm(const Field& term, const RoleField& own, const std::vector<RoleField>& roles,
               const model::ObjectKey& job) {
  if (!term["labelSelector"].present()) return;  // selects nothing
  const Field level = term["topologyKey"];
  if (level.text() != model::names::kHostnameLabel)
    return level.refuse("must be kubernetes.io/hostname: spec.locality decides how close members are");
  for (const std::string_view more :
       {"namespaces", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"})
    checkAbsent(term[more]);
  const Field selector = term["labelSelector"];
  const auto apart = apartBy(term, job.ns);
  if (!apart || !selects(selector, own.labels)) {
    return selector.complain(
        "must select the role's own pods, by their labels: members keep apart from each other only; use "
        "taints or node labels to keep away from other pods");
  }
  for (const RoleField& other : roles) {
    if (other.name == own.name || other.apart.contains(*apart) || !selects(selector, other.labels)) continue;
    selector.complain(
        fmt::format("selects the pods of role {} as well, which does not require the same: "
                    "add {}: {} to what is selected, or require it of both",
                    other.name, model::names::kRoleLabel, own.name));
  }
}

void checkSpread(const Field& constraint) {
  const Field otherwise = constraint["whenUnsatisfiable"];
  if (otherwise.text() == "ScheduleAnyway") return;
  otherwise.refuse(
      "must be ScheduleAnyway: nodes are chosen for the whole gang; spec.locality decides how close they "
      "must be, "
      "and required anti-affinity by kubernetes.io/hostname puts at most one member on a node");
}

}  // namespace

void addApartness(const Field& podSpec, std::string_view ns, CountedNames& names,
                  model::Resources& requests) {
  if (!podSpec["affinity"].present()) return;
  requiredApart(podSpec).forEachElement([&](const Field& term) {
    const auto apart = apartBy(term, ns);
    if (apart && names.take(*apart)) requests.setExtended(*apart, 1);
  });
}

void checkApartness(const Field& roles, const model::ObjectKey& job) {
  // Terms are compared with all roles; lists that are refused for their length are not compared.
  if (roles.anyComplaint()) return;
  const std::vector<RoleField> all = readRoles(roles, job);
  if (roles.anyComplaint()) return;
  for (const RoleField& role : all) {
    const Field together = role.spec["affinity"]["podAffinity"][kRequiredTerms];
    together.forEachElement([](const Field& term) {
      term.complain(
          "must be absent: members are kept together by spec.locality.required, and by no pod's labels");
    });
    requiredApart(role.spec).forEachElement([&](const Field& term) { checkTerm(term, role, all, job); });
    role.spec["topologySpreadConstraints"].forEachElement(checkSpread);
  }
}

}  // namespace trainyard::codec
