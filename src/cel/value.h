#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "cel/semver.h"

namespace trainyard::cel {

// Device, attributes and capacity are maps that are looked up in the device itself; `kInner` ones are those
// of one domain.
enum class MapKind { kDevice, kAttributes, kCapacity, kInnerAttributes, kInnerCapacity };

struct DeviceMap {
  MapKind kind = MapKind::kDevice;
  std::string domain = {};  // of the inner ones
};

struct Value;
using List = std::shared_ptr<const std::vector<Value>>;

// A value of an expression. Without doubles, unsigned numbers, bytes, times and null, which no attribute of a
// device has: expressions with these are refused.
struct Value {
  std::variant<bool, std::int64_t, std::string, base::Quantity, Semver, List, DeviceMap> value;

  template <typename T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
};

// What is known of a value before the expression runs.
enum class Type { kUnknown, kBool, kInt, kString, kQuantity, kSemver, kList, kMap };
[[nodiscard]] Type typeOf(const Value& value);
[[nodiscard]] std::string_view toString(Type type);

// Values of different types are not equal.
[[nodiscard]] bool areEqual(const Value& a, const Value& b);

// Reads a quantity exactly. kInvalid: no quantity; kUnsupported: finer than a thousandth, or too large to
// compare.
[[nodiscard]] base::Result<base::Quantity> exactQuantity(std::string_view text);

}  // namespace trainyard::cel
