#include <set>

#include <fmt/format.h>

#include "sim/api/names.h"
#include "sim/api/registry.h"

namespace trainyard::sim {
namespace {

void validateLabels(const Json& meta, Causes& causes) {
  for (const auto& [key, value] : objectAt(meta, {"labels"}).items()) {
    if (!isQualifiedName(key))
      causes.invalid("metadata.labels",
                     fmt::format("\"{}\": name part must consist of alphanumeric characters", key));
    if (value.is_string() && !isLabelValue(value.get<std::string>())) {
      causes.invalid(
          "metadata.labels",
          fmt::format("{}: a valid label must be an empty string or consist of alphanumeric characters",
                      value.dump()));
    }
  }
  std::size_t size = 0;
  for (const auto& [key, value] : objectAt(meta, {"annotations"}).items()) {
    std::string lower = key;
    for (auto& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!isQualifiedName(lower))
      causes.invalid("metadata.annotations",
                     fmt::format("\"{}\": name part must consist of alphanumeric characters", key));
    size += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  constexpr std::size_t kMaxAnnotations = std::size_t{256} * 1024;
  if (size > kMaxAnnotations) causes.tooLong("metadata.annotations", "may not be more than 262144 bytes");
}

void validateOwners(const Json& meta, Causes& causes) {
  const Json& owners = listAt(meta, {"ownerReferences"});
  int controllers = 0;
  for (const auto& owner : owners) {
    const std::string path = "metadata.ownerReferences";
    if (textAt(owner, {"apiVersion"}).empty())
      causes.invalid(path + ".apiVersion", "\"\": version must not be empty");
    if (textAt(owner, {"kind"}).empty()) causes.invalid(path + ".kind", "\"\": must not be empty");
    if (textAt(owner, {"name"}).empty()) causes.invalid(path + ".name", "\"\": must not be empty");
    if (textAt(owner, {"uid"}).empty()) causes.invalid(path + ".uid", "\"\": must not be empty");
    controllers += boolAt(owner, {"controller"}) ? 1 : 0;
  }
  if (controllers > 1) {
    causes.invalid("metadata.ownerReferences", "Only one reference can have Controller set to true");
  }
}

void validateFinalizers(const Json& meta, const Strategy& strategy, Causes& causes) {
  const Json& finalizers = listAt(meta, {"finalizers"});
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    if (!finalizers[i].is_string()) continue;
    const auto name = finalizers[i].get<std::string>();
    if (!isQualifiedName(name)) {
      causes.invalid("metadata.finalizers",
                     finalizers[i].dump() + ": name part must consist of alphanumeric characters");
    }
    const bool standard = name == "kubernetes" || name == "orphan" || name == "foregroundDeletion";
    if (strategy.builtin && !standard && name.find('/') == std::string::npos) {
      causes.invalid(
          fmt::format("metadata.finalizers[{}]", i),
          finalizers[i].dump() + ": name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void immutable(const Json& old, const Json& object, const std::string& field, Causes& causes) {
  if (sameAt(old, object, {"metadata", field})) return;
  const Json* value = findPath(object, {"metadata", field});
  causes.invalid("metadata." + field,
                 fmt::format("{}: field is immutable", value == nullptr ? "\"\"" : value->dump()));
}

}  // namespace

void validateMeta(const Json& object, bool namespaced, const Strategy& strategy, Causes& causes) {
  const Json& meta = objectAt(object, {"metadata"});
  const std::string name = textAt(meta, {"name"});
  const std::string base = textAt(meta, {"generateName"});
  if (name.empty()) {
    causes.required("metadata.name", "name or generateName is required");
  } else if (!strategy.validName(name)) {
    causes.invalid(
        "metadata.name",
        fmt::format("\"{}\": a lowercase RFC 1123 name must consist of lower case alphanumeric characters",
                    name));
  }
  if (!base.empty()) {
    const std::string masked = base.back() == '-' ? base.substr(0, base.size() - 1) + "a" : base;
    if (!strategy.validName(masked)) causes.invalid("metadata.generateName", fmt::format("\"{}\"", base));
  }
  const bool hasSpace = !textAt(meta, {"namespace"}).empty();
  if (namespaced && !hasSpace) causes.required("metadata.namespace");
  if (!namespaced && hasSpace) causes.forbidden("metadata.namespace", "not allowed on this type");
  validateLabels(meta, causes);
  validateOwners(meta, causes);
  validateFinalizers(meta, strategy, causes);
}

void validateMetaUpdate(const Json& old, const Json& object, const Strategy& strategy, Causes& causes) {
  const Json& meta = objectAt(object, {"metadata"});
  if (findPath(old, {"metadata", "deletionTimestamp"}) != nullptr) {
    // No finalizer may be added to an object that is being deleted.
    std::set<std::string> before;
    for (const auto& name : listAt(old, {"metadata", "finalizers"})) before.insert(name.get<std::string>());
    for (const auto& name : listAt(meta, {"finalizers"})) {
      if (before.count(name.get<std::string>()) == 0) {
        causes.forbidden(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers " +
                name.dump());
        break;
      }
    }
  }
  for (const char* field :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    immutable(old, object, field, causes);
  }
  validateLabels(meta, causes);
  validateOwners(meta, causes);
  validateFinalizers(meta, strategy, causes);
}

}  // namespace trainyard::sim
