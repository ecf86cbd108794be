#pragma once

// Internal to src/sim: the built-in API types as tables, used by decoding, pruning and strategic merge.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/api/json.h"
#include "sim/api/status.h"

namespace trainyard::sim {

struct StructType;

struct FieldType {
  enum class Kind {
    kString,
    kInt,
    kBool,
    kQuantity,
    kTime,
    kMicroTime,
    kIntOrString,
    kBytes,
    kAny,
    kMap,
    kList,
    kStruct
  };
  Kind kind = Kind::kAny;
  bool pointer = false;    // an explicit zero value is kept
  bool always = false;     // written even if empty
  bool mergeList = false;  // strategic merge: by `mergeKey`, or as a set if it is empty
  bool retainKeys = false;
  std::string mergeKey;
  std::shared_ptr<const FieldType> element;  // of a list or map
  const StructType* structType = nullptr;
};

struct StructType {
  std::string name;
  std::map<std::string, FieldType> fields;
};

class TypeTable {
 public:
  // The text of builtin_types.cpp. An error in it is a bug that the first test with a server
  // finds.
  explicit TypeTable(std::string_view text);
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  [[nodiscard]] const StructType* at(const std::string& name) const;

 private:
  void parseField(StructType& owner, std::string_view text);
  FieldType parseType(std::string_view text);

  std::map<std::string, std::unique_ptr<StructType>> structs_;
};

[[nodiscard]] const char* builtinTypeText();

// Returns the result of reading `value` into the Go struct and writing it again: unknown members dropped
// (their paths are added to `unknown`), empty ones omitted, quantities and times canonical. 400 for a value
// of the wrong type.
[[nodiscard]] Outcome<Json> roundTrip(const StructType& type, const Json& value,
                                      std::vector<std::string>& unknown);

// "0.5" -> "500m", "1024Mi" -> "1Gi"; kInvalid if it is not a quantity.
[[nodiscard]] base::Result<std::string> canonicalQuantity(const std::string& text);

}  // namespace trainyard::sim
