#include "cli/convert/template.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/convert/pod_fields.h"
#include "cli/convert/scheduler_marks.h"
#include "cli/convert/topology_keys.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kKueuePrefix = "kueue.x-k8s.io/";
constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

// Domains of other systems: no pod here has their labels and annotations by itself.
bool ofOtherSystem(const std::string& key) {
  static const re2::RE2 kDomain(
      R"(^((.*\.)?(kubeflow\.org|volcano\.sh|huawei\.com|x-k8s\.io|sigs\.k8s\.io)|scheduling\.k8s\.io|batch\.kubernetes\.io|apps\.kubernetes\.io)/)");
  return re2::RE2::PartialMatch(key, kDomain);
}

std::string filled(std::string_view value, const JobDraft& draft, const RoleDraft& role) {
  std::string text(value);
  for (const auto& [word, name] : {std::pair<std::string, std::string>{"{job}", draft.name()},
                                   {"{role}", role.name},
                                   {"{task}", role.original}}) {
    if (const auto at = text.find(word); at != std::string::npos) text.replace(at, word.size(), name);
  }
  return text;
}

// Returns true if the API server accepts the text as the value of a label.
bool isLabelValue(const std::string& value) {
  static const re2::RE2 kValue("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
  return re2::RE2::FullMatch(value, kValue);
}

void eraseEmpty(Json& object, const char* key) {
  if (const Json value = get(object, key); value.is_structured() && value.empty()) object.erase(key);
}

}  // namespace

std::vector<std::string> scriptsOf(const Companions& companions) {
  std::vector<std::string> texts;
  for (const std::string& each : companions.objects) {
    const Json object = Json::parse(each, nullptr, false);
    if (textOf(get(object, "kind")) != "ConfigMap" || !get(object, "data").is_object()) continue;
    for (const Json& text : get(object, "data")) texts.push_back(textOf(text));
  }
  return texts;
}

void TemplateCleaner::clean(RoleDraft& role) {
  cleanTop(role);
  if (!get(role.pod, "spec").is_object()) return;
  dropUnknown(role, role.pod["spec"], "template.spec", "PodSpec");
  dropRefused(role);
  takeKueue(role);
  if (get(role.pod, "metadata").is_object())
    takeSchedulerMarks(role.pod["metadata"], fmt::format("role {}", role.name), draft_);
  addLabels(role);
  // A label that mapFieldRefs() adds must not move the spec that it walks through.
  if (get(role.pod, "metadata", "labels").is_null()) role.pod["metadata"]["labels"] = Json::object();
  mapFieldRefs(role, role.pod["spec"]);
  takeVolcanoResources(role, draft_);
  if (!get(role.pod, "metadata").is_object()) {
    role.pod.erase("metadata");
    return;
  }
  eraseEmpty(role.pod["metadata"], "labels");
  eraseEmpty(role.pod["metadata"], "annotations");
  eraseEmpty(role.pod, "metadata");
}

// A template has metadata and spec; only labels and annotations of the metadata have an effect.
void TemplateCleaner::cleanTop(RoleDraft& role) {
  std::vector<std::string> extra;
  for (const auto& [key, value] : role.pod.items()) {
    if (key != "metadata" && key != "spec") extra.push_back(key);
  }
  for (const std::string& key : extra) {
    role.pod.erase(key);
    notes_.kept(fmt::format("role {}: template.{}: left out, it has no effect", role.name, key));
  }
  if (!get(role.pod, "metadata").is_object()) {
    role.pod.erase("metadata");
    return;
  }
  Json& meta = role.pod["metadata"];
  extra.clear();
  for (const auto& [key, value] : meta.items()) {
    if (key != "labels" && key != "annotations") extra.push_back(key);
  }
  for (const std::string& key : extra) {
    const bool isSet = !get(meta, key.c_str()).is_null();
    meta.erase(key);
    if (key == "finalizers")
      notes_.lost(fmt::format(
          "role {}: template.metadata.finalizers: not carried over; an ended pod must not keep its node",
          role.name));
    else if (isSet && key != "creationTimestamp")
      notes_.kept(fmt::format("role {}: template.metadata.{}: left out, members are named by the operator",
                              role.name, key));
  }
}

void TemplateCleaner::dropUnknown(RoleDraft& role, Json& object, const std::string& path,
                                  std::string_view kind) {
  if (object.is_array()) {
    for (std::size_t i = 0; i < object.size(); ++i)
      dropUnknown(role, object[i], fmt::format("{}[{}]", path, i), kind);
    return;
  }
  if (!object.is_object()) return;
  std::vector<std::string> unknown;
  for (auto& [key, value] : object.items()) {
    const auto field = podField(kind, key);
    if (!field) {
      unknown.push_back(key);
    } else if (!field->empty()) {
      dropUnknown(role, value, fmt::format("{}.{}", path, key), *field);
    }
  }
  for (const std::string& key : unknown) {
    object.erase(key);
    notes_.kept(fmt::format("role {}: {}.{}: left out, pods have no such field and it had no effect",
                            role.name, path, key));
  }
}

void TemplateCleaner::dropRefused(RoleDraft& role) {
  Json& spec = role.pod["spec"];
  for (const char* key : {"restartPolicy", "schedulerName"}) spec.erase(key);
  for (const char* key : {"nodeName", "hostname", "subdomain", "preemptionPolicy", "schedulingGates",
                          "schedulingGroup", "workloadRef"}) {
    if (spec.erase(key) > 0)
      notes_.lost(fmt::format("role {}: template.spec.{}: not carried over; it is the operator's to set",
                              role.name, key));
  }
}

// Kueue's pod integration would hold back members that have its label.
void TemplateCleaner::takeKueue(RoleDraft& role) {
  for (const char* part : {"labels", "annotations"}) {
    if (!get(role.pod, "metadata", part).is_object()) continue;
    Json& all = role.pod["metadata"][part];
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [key, value] : all.items()) {
      if (key.starts_with(kKueuePrefix)) found.emplace_back(key, textOf(value));
    }
    for (const auto& [key, value] : found) {
      all.erase(key);
      const std::string name = key.substr(kKueuePrefix.size());
      const std::string origin = fmt::format("role {}: {} {} of the template", role.name, part, key);
      if (name == "queue-name") {
        if (get(draft_.spec(), "queue").is_null()) draft_.spec()["queue"] = value;
        notes_.kept(origin + ": left out, spec.queue counts");
      } else if (name == "podset-required-topology") {
        require(value, origin);
      } else if (name == "podset-preferred-topology") {
        notes_.kept(origin + ": left out, the closest nodes are chosen anyway");
      } else {
        notes_.lost(origin + ": not carried over");
      }
    }
  }
}

void TemplateCleaner::addLabels(RoleDraft& role) {
  for (const LabelFact& fact : draft_.facts().labels) {
    if (fact.isLabel && !fact.onlyIfRead) addLabel(role, fact);
  }
}

// Returns true if the template has the label afterwards.
bool TemplateCleaner::addLabel(RoleDraft& role, const LabelFact& fact) const {
  if (fact.value.empty()) return false;
  if (!fact.onlyRole.empty() && fact.onlyRole != role.name) return false;
  const std::string value = filled(fact.value, draft_, role);
  if (!isLabelValue(value)) return false;
  Json& labels = role.pod["metadata"]["labels"];
  if (!labels.is_null() && !labels.is_object()) return false;
  const std::string key(fact.key);
  if (const Json own = get(labels, key.c_str()); !own.is_null() && own != value)
    notes_.kept(fmt::format("role {}: label {} of the template: {} sets its own, {}, in its place", role.name,
                            key, draft_.facts().system, value));
  labels[key] = value;
  return true;
}

// Prefers the label of the template: it has the former value, whatever the role is called now.
std::string TemplateCleaner::pathOf(RoleDraft& role, const LabelFact& fact) const {
  return addLabel(role, fact) ? fmt::format("metadata.labels['{}']", fact.key) : std::string(fact.path);
}

void TemplateCleaner::mapFieldRefs(RoleDraft& role, Json& value) {
  if (value.is_array()) {
    for (Json& each : value) mapFieldRefs(role, each);
    return;
  }
  if (!value.is_object()) return;
  for (auto& [key, member] : value.items()) {
    if (key != "fieldPath" || !member.is_string()) {
      mapFieldRefs(role, member);
      continue;
    }
    static const re2::RE2 kPath(R"(metadata\.(labels|annotations)\[['"]([^'"]+)['"]\])");
    std::string part;
    std::string name;
    if (!re2::RE2::FullMatch(member.get_ref<const std::string&>(), kPath, &part, &name)) continue;
    if (name.starts_with("trainyard.dev/")) continue;
    if (get(role.pod, "metadata", part.c_str()).contains(name)) continue;
    const auto facts = draft_.facts().labels;
    const auto fact = std::find_if(facts.begin(), facts.end(), [&](const LabelFact& each) {
      return each.key == name && each.isLabel == (part == "labels") && !each.path.empty();
    });
    if (fact != facts.end()) {
      const std::string path = pathOf(role, *fact);
      if (path == member.get_ref<const std::string&>()) continue;
      member = path;
      notes_.kept(fmt::format("role {}: {} {} is read from {}", role.name, part, name, path));
    } else if (ofOtherSystem(name)) {
      notes_.cannotWork(
          fmt::format("role {}: {} {} is read by a fieldRef, and nothing here sets it: its value is empty",
                      role.name, part, name));
    } else {
      notes_.kept(
          fmt::format("role {}: {} {} is read by a fieldRef: empty unless something else sets it, as in {}",
                      role.name, part, name, draft_.facts().system));
    }
  }
}

// Returns true if the selector matches the pods of every role, by the labels of their templates.
bool TemplateCleaner::selectsAll(const Json& selector) const {
  if (!selector.is_object() || selector.empty()) return false;
  return std::all_of(draft_.roles().begin(), draft_.roles().end(), [&](const RoleDraft& role) {
    const Json labels = get(role.pod, "metadata", "labels");
    const Json wanted = get(selector, "matchLabels");
    for (const auto& [key, value] : wanted.items()) {
      if (get(labels, key.c_str()) != value) return false;
    }
    for (const Json& each : listOf(get(selector, "matchExpressions"))) {
      const Json own = get(labels, textOf(get(each, "key")).c_str());
      const Json values = listOf(get(each, "values"));
      const bool in = std::find(values.begin(), values.end(), own) != values.end();
      const std::string op = textOf(get(each, "operator"));
      if (!(op == "In" && in) && !(op == "Exists" && !own.is_null())) return false;
    }
    return true;
  });
}

void TemplateCleaner::require(const std::string& topologyKey, const std::string& origin) {
  const auto level = levelOfKey(topologyKey);
  if (!level)
    return notes_.lost(
        fmt::format("{}: name the level of {} in spec.locality.required", origin, topologyKey));
  const Json other = get(draft_.spec(), "locality", "required");
  if (!other.is_null() && other != level->name)
    return notes_.lost(fmt::format("{}: spec.locality.required is {} already", origin, textOf(other)));
  draft_.set("locality", "required", level->name);
  notes_.kept(fmt::format("{} became spec.locality.required: {}{}", origin, level->name,
                          level->usual ? "" : ", which the cluster's topology has to have"));
}

// spec.locality keeps members near each other; the operator refuses required affinity to other pods.
void TemplateCleaner::takeAffinity(RoleDraft& role) {
  if (!get(role.pod, "spec", "affinity", "podAffinity", kRequired).is_array()) return;
  Json& affinity = role.pod["spec"]["affinity"];
  Json rest = Json::array();
  for (const Json& term : affinity["podAffinity"][kRequired]) {
    const std::string key = textOf(get(term, "topologyKey"));
    if (selectsAll(get(term, "labelSelector"))) {
      require(key, fmt::format("role {}: required podAffinity by {}", role.name, key));
    } else {
      rest.push_back(term);
      notes_.cannotWork(fmt::format(
          "role {}: required podAffinity by {} selects other pods than the job's: the operator refuses "
          "it; name labels of nodes instead",
          role.name, key));
    }
  }
  affinity["podAffinity"].erase(kRequired);
  if (!rest.empty()) affinity["podAffinity"][kRequired] = std::move(rest);
  eraseEmpty(affinity, "podAffinity");
  eraseEmpty(role.pod["spec"], "affinity");
}

void TemplateCleaner::settle() {
  for (RoleDraft& role : draft_.roles()) takeAffinity(role);
}

}  // namespace trainyard::cli
