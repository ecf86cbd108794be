#include "sim/api/registry.h"
#include "sim/api/schema.h"

namespace trainyard::sim {
namespace {

class CustomStrategy final : public Strategy {
 public:
  explicit CustomStrategy(Json definition) : definition_(std::move(definition)) {
    unconditionalUpdate = false;
    builtin = false;
    hasRules_ = dumpJson(schema()).find("\"x-kubernetes-validations\"") != std::string::npos;
  }

  void defaults(Json& object) const override { applySchemaDefaults(schema(), object); }

  void prepareCreate(Json& object, base::WallTime) const override {
    if (hasStatus()) object.erase("status");
    object["metadata"]["generation"] = 1;
  }

  void validate(const Json& object, Causes& causes) const override { check(object, nullptr, causes); }

  void prepareUpdate(const Json& old, Json& object, Part part) const override {
    if (part == Part::kStatus) {
      // Only the status is stored.
      const Json status = object.value("status", Json(nullptr));
      object = old;
      object.erase("status");
      if (!status.is_null()) object["status"] = status;
      return;
    }
    if (hasStatus()) copyMember(object, old, "status");
    Json before = old;
    Json after = object;
    before.erase("metadata");
    after.erase("metadata");
    if (before != after)
      object["metadata"]["generation"] = intAt(old, {"metadata", "generation"}).value_or(0) + 1;
  }

  void validateUpdate(const Json& old, const Json& object, Part, Causes& causes) const override {
    check(object, &old, causes);
  }

 private:
  void check(const Json& object, const Json* old, Causes& causes) const {
    validateSchema(schema(), object, old, causes);
    validateScale(object, causes);
    noteUncheckedRules(causes);
  }

  // Complains if a scale path leads to a value that is not a replica count.
  void validateScale(const Json& object, Causes& causes) const {
    for (const char* which : {"specReplicasPath", "statusReplicasPath"}) {
      const std::string path = textAt(definition_, {"subresources", "scale", which});
      if (path.empty()) continue;
      const Json* at = &object;
      for (std::size_t start = 1; at != nullptr && start < path.size();) {
        const auto end = std::min(path.find('.', start), path.size());
        if (!at->is_object()) {
          causes.invalid(path, "accessor error");
          at = nullptr;
          break;
        }
        at = find(*at, path.substr(start, end - start));
        start = end + 1;
      }
      if (at == nullptr) continue;
      if (!at->is_number_integer()) {
        causes.invalid(path, "accessor error: not an integer");
      } else if (at->get<std::int64_t>() < 0) {
        causes.invalid(path, "should be a non-negative integer");
      } else if (at->get<std::int64_t>() > INT32_MAX) {
        causes.invalid(path, "should be less than or equal to 2147483647");
      }
    }
  }

  // Rules are not evaluated on an object with a wrong shape, and the real server reports that.
  void noteUncheckedRules(Causes& causes) const {
    if (!hasRules_) return;
    for (const auto& cause : causes.list()) {
      for (const char* blocking : {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong",
                                   "FieldValueTooMany", "FieldValueTypeInvalid"}) {
        if (cause.reason != blocking) continue;
        causes.invalid("<nil>",
                       "some validation rules were not checked because the object was invalid; correct the "
                       "existing errors to complete validation");
        return;
      }
    }
  }

  [[nodiscard]] bool hasStatus() const {
    return findPath(definition_, {"subresources", "status"}) != nullptr;
  }
  [[nodiscard]] const Json& schema() const { return objectAt(definition_, {"schema", "openAPIV3Schema"}); }

  Json definition_;
  bool hasRules_ = false;
};

}  // namespace

void pruneCustom(const ResourceType& type, Json& object, std::vector<std::string>& dropped) {
  pruneUnknown(type.schema(), object, dropped);
}

std::unique_ptr<Strategy> makeCustomStrategy(Json definition) {
  return std::make_unique<CustomStrategy>(std::move(definition));
}

}  // namespace trainyard::sim
