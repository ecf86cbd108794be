#pragma once

// Internal to src/sim: the resource types and the differences between them.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "sim/api/json.h"
#include "sim/api/status.h"
#include "sim/api/types.h"

namespace trainyard::sim {

enum class Part { kMain, kStatus, kScale, kFinalize };

// What admission can read. `get` and `list` answer from the store; names as in a path ("priorityclasses").
struct AdmissionView {
  std::function<const Json*(const std::string& plural, const std::string& space, const std::string& name)>
      get;
  std::function<std::vector<const Json*>(const std::string& plural, const std::string& space)> list;
  base::WallTime now;
  base::Rng* rng = nullptr;
};

// The rules of one resource type. The defaults are those of a plain object: no generation, no status.
class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  // Fills in default values. Runs whenever an object is decoded.
  virtual void defaults(Json& /*object*/) const {}
  // The mutating and validating admission plug-ins; `old` is null on create.
  virtual Outcome<void> admit(const AdmissionView& /*view*/, Json& /*object*/, const Json* /*old*/) const {
    return {};
  }
  virtual void prepareCreate(Json& /*object*/, base::WallTime /*now*/) const {}
  virtual void validate(const Json& /*object*/, Causes& /*causes*/) const {}
  virtual void prepareUpdate(const Json& old, Json& object, Part part) const;
  virtual void validateUpdate(const Json& /*old*/, const Json& /*object*/, Part /*part*/,
                              Causes& /*causes*/) const {}
  // The grace period of a delete in seconds; nullopt if deletion is not graceful.
  virtual std::optional<std::int64_t> gracePeriod(const Json& /*object*/,
                                                  std::optional<std::int64_t> /*asked*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual bool validName(const std::string& name) const;

  bool createOnUpdate = false;
  bool unconditionalUpdate = true;
  bool returnsDeleted = false;
  bool builtin = true;  // custom resources are checked less
};

struct ResourceType {
  ResourceName name;
  std::string version;
  std::string singular;
  std::vector<std::string> shortNames = {};
  bool namespaced = true;
  bool hasStatus = false;
  std::string table;                 // the table of its objects; versions of one resource share it
  const StructType* type = nullptr;  // set for built-in resources
  Json definition = nullptr;         // the CRD's version entry, for custom resources
  std::unique_ptr<Strategy> strategy = nullptr;
  std::vector<std::string> fields = {};  // field selectors beyond metadata.name and metadata.namespace
  // Convert between this version and the stored one; null if they are equal.
  Json (*toStored)(const Json&) = nullptr;
  Json (*fromStored)(const Json&) = nullptr;

  [[nodiscard]] bool custom() const { return type == nullptr; }
  // The name in a 422: events are validated under their stored name.
  ResourceName checkedName = {};
  [[nodiscard]] bool hasScale() const;
  [[nodiscard]] std::string apiVersion() const {
    return name.group.empty() ? version : name.group + "/" + version;
  }
  [[nodiscard]] const Json& schema() const;
};

class Registry {
 public:
  // The built-in resources and those of the CRDs (YAML, several documents each). kInvalid names a bad one.
  [[nodiscard]] static base::Result<std::unique_ptr<Registry>> create(
      const std::vector<std::string>& crdTexts);

  [[nodiscard]] const ResourceType* find(const std::string& group, const std::string& version,
                                         const std::string& plural) const;
  [[nodiscard]] bool hasGroup(const std::string& group) const;
  [[nodiscard]] const std::vector<std::unique_ptr<ResourceType>>& all() const { return types_; }
  [[nodiscard]] const StructType& structType(const std::string& name) const { return *table_.at(name); }

 private:
  Registry();
  ResourceType& add(ResourceName name, std::string version, const std::string& structName, bool namespaced);
  base::Result<void> addCustom(const Json& definition);

  TypeTable table_;
  std::vector<std::unique_ptr<ResourceType>> types_;
};

// The strategies of the built-in kinds.
[[nodiscard]] std::unique_ptr<Strategy> makePodStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeServiceStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeNodeStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeNamespaceStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeConfigMapStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeEventStrategy(bool coreVersion);
[[nodiscard]] std::unique_ptr<Strategy> makeLeaseStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makePriorityClassStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeServiceAccountStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeLimitRangeStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeQuotaStrategy();
[[nodiscard]] std::unique_ptr<Strategy> makeJobStrategy();
// `definition` is the entry of spec.versions.
[[nodiscard]] std::unique_ptr<Strategy> makeCustomStrategy(Json definition);

// Drops fields that the schema does not define, at the top level too. Their paths are added to `dropped`.
void pruneCustom(const ResourceType& type, Json& object, std::vector<std::string>& dropped);
// Applies a binding to a pod.
void assignNode(Json& pod, const Json& binding, const std::string& node, base::WallTime now);

// Convert events.k8s.io/v1 to and from core/v1, the stored form.
[[nodiscard]] Json eventToCore(const Json& event);
[[nodiscard]] Json eventFromCore(const Json& event);

// Validate the metadata of any object. `path` is "metadata".
void validateMeta(const Json& object, bool namespaced, const Strategy& strategy, Causes& causes);
void validateMetaUpdate(const Json& old, const Json& object, const Strategy& strategy, Causes& causes);

}  // namespace trainyard::sim
