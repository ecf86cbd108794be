#include "cel/value.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <re2/re2.h>

namespace trainyard::cel {

Type typeOf(const Value& value) {
  constexpr std::array kTypes{Type::kBool,   Type::kInt,  Type::kString, Type::kQuantity,
                              Type::kSemver, Type::kList, Type::kMap};
  static_assert(kTypes.size() == std::variant_size_v<decltype(Value::value)>);
  return kTypes[value.value.index()];
}

std::string_view toString(Type type) {
  switch (type) {
    case Type::kUnknown: return "any";
    case Type::kBool: return "bool";
    case Type::kInt: return "int";
    case Type::kString: return "string";
    case Type::kQuantity: return "Quantity";
    case Type::kSemver: return "Semver";
    case Type::kList: return "list";
    case Type::kMap: return "map";
  }
  return "any";
}

bool areEqual(const Value& a, const Value& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const auto* list = a.as<List>()) {
    const auto& other = **b.as<List>();
    return std::equal((*list)->begin(), (*list)->end(), other.begin(), other.end(), areEqual);
  }
  if (const auto* flag = a.as<bool>()) return *flag == *b.as<bool>();
  if (const auto* number = a.as<std::int64_t>()) return *number == *b.as<std::int64_t>();
  if (const auto* text = a.as<std::string>()) return *text == *b.as<std::string>();
  if (const auto* quantity = a.as<base::Quantity>()) return *quantity == *b.as<base::Quantity>();
  if (const auto* version = a.as<Semver>()) return *version == *b.as<Semver>();
  return false;  // maps: refused before
}

base::Result<base::Quantity> exactQuantity(std::string_view text) {
  static const re2::RE2 kUsual("[+-]?[0-9]+(?:(?:\\.[0-9]{1,3})?(?:[kMGTPE]|[KMGTPE]i)?|m)");
  const bool usual = re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), kUsual);
  auto quantity = usual ? base::Quantity::parse(text) : base::fail(base::ErrorCode::kInvalid, {});
  if (quantity) return quantity;
  return base::fail(base::ErrorCode::kUnsupported, fmt::format("quantity \"{}\" is not compared", text));
}

}  // namespace trainyard::cel
