#include "cel/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

namespace trainyard::cel {
namespace {

using base::ErrorCode;
using Evaluated = base::Result<Value>;
using Integer = std::int64_t;

// Attributes have 64 characters; only sums of sums become long.
constexpr std::size_t kMaxText = 4'096;

// Ends the whole expression: no other operand absorbs it.
constexpr ErrorCode kPanic = ErrorCode::kInternal;

tl::unexpected<base::Error> fail(std::string message) {
  return base::fail(ErrorCode::kInvalid, std::move(message));
}

tl::unexpected<base::Error> noOverload(Function function) {
  return fail(fmt::format("{} does not take these operands", traitsOf(function).name));
}

template <typename Entries>
auto findIn(const Entries& entries, std::string_view domain, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& each) {
    const std::string_view full = each.first;
    return full.size() == domain.size() + 1 + name.size() && full.starts_with(domain) &&
           full[domain.size()] == '/' && full.ends_with(name);
  });
}

std::string ascii(std::string text, char from, char to, int shift) {
  for (char& each : text) {
    if (each >= from && each <= to) each = static_cast<char>(each + shift);
  }
  return text;
}

// Code points: bytes that do not continue one.
Integer lengthOf(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char each) { return (static_cast<unsigned char>(each) & 0xC0) != 0x80; });
}

bool isOfKubernetes(const Value& value) {
  return value.as<base::Quantity>() != nullptr || value.as<Semver>() != nullptr;
}

class Evaluator {
 public:
  Evaluator(const model::Device& device, std::string_view driver) : device_(device), driver_(driver) {}

  Evaluated evaluate(const Node& node) {
    switch (node.kind) {
      case NodeKind::kLiteral: return *node.value;
      case NodeKind::kList: return list(node);
      case NodeKind::kVariable: return variable(node);
      case NodeKind::kSelect:
        return withField(node, [&](const Value& target) { return field(target, node.name); });
      case NodeKind::kIndex: return index(node);
      case NodeKind::kHas:
        return withField(node, [&](const Value& target) -> Evaluated {
          return Value{holds(*target.as<DeviceMap>(), node.name)};
        });
      case NodeKind::kBind: return bind(node);
      case NodeKind::kCall: return call(node);
    }
    return fail("an unknown kind of expression");
  }

 private:
  struct Scope {
    std::string_view name;
    const Node* value = nullptr;
    Scope* outer = nullptr;  // that its value sees
    std::optional<Evaluated> known = std::nullopt;
  };

  template <typename Then>
  Evaluated withField(const Node& node, Then then) {
    auto target = evaluate(*node.args[0]);
    return target ? then(*target) : std::move(target);
  }

  Evaluated list(const Node& node) {
    auto values = std::make_shared<std::vector<Value>>();
    for (const auto& each : node.args) {
      auto value = evaluate(*each);
      if (!value) return value;
      values->push_back(*std::move(value));
    }
    return Value{List(std::move(values))};
  }

  // A bound value is evaluated where it is first used: an error counts only there.
  Evaluated variable(const Node& node) {
    for (Scope* each = scope_; each != nullptr; each = each->outer) {
      if (each->name != node.name) continue;
      if (!each->known) {
        Scope* used = std::exchange(scope_, each->outer);
        each->known = evaluate(*each->value);
        scope_ = used;
      }
      return *each->known;
    }
    return Value{DeviceMap{}};
  }

  Evaluated bind(const Node& node) {
    Scope inner{node.name, node.args[0].get(), scope_};
    scope_ = &inner;
    auto body = evaluate(*node.args[1]);
    scope_ = inner.outer;
    return body;
  }

  [[nodiscard]] bool holds(const DeviceMap& map, std::string_view name) const {
    const auto inDomain = [&](const auto& entries) {
      return std::any_of(entries.begin(), entries.end(), [&](const auto& each) {
        return each.first.starts_with(name) && each.first.find('/') == name.size();
      });
    };
    switch (map.kind) {
      case MapKind::kDevice: return false;
      case MapKind::kAttributes: return inDomain(device_.attributes);
      case MapKind::kCapacity: return inDomain(device_.capacity);
      case MapKind::kInnerAttributes:
        return findIn(device_.attributes, map.domain, name) != device_.attributes.end();
      case MapKind::kInnerCapacity:
        return findIn(device_.capacity, map.domain, name) != device_.capacity.end();
    }
    return false;
  }

  [[nodiscard]] Evaluated field(const Value& target, const std::string& name) const {
    const auto* map = target.as<DeviceMap>();
    if (map == nullptr) return fail(fmt::format("a {} has no field {}", toString(typeOf(target)), name));
    switch (map->kind) {
      case MapKind::kDevice:
        if (name == "driver") return Value{std::string(driver_)};
        if (name == "allowMultipleAllocations") return Value{device_.shared};
        return Value{DeviceMap{name == "capacity" ? MapKind::kCapacity : MapKind::kAttributes}};
      case MapKind::kAttributes: return Value{DeviceMap{MapKind::kInnerAttributes, name}};
      case MapKind::kCapacity: return Value{DeviceMap{MapKind::kInnerCapacity, name}};
      case MapKind::kInnerAttributes:
        if (const auto at = findIn(device_.attributes, map->domain, name); at != device_.attributes.end())
          return attribute(at->second);
        break;
      case MapKind::kInnerCapacity:
        if (const auto at = findIn(device_.capacity, map->domain, name); at != device_.capacity.end())
          return capacity(at->second, name);
        break;
    }
    return fail(fmt::format("no such key: {}", name));
  }

  static Evaluated capacity(const std::optional<base::Quantity>& amount, const std::string& name) {
    if (amount) return Value{*amount};
    return base::fail(ErrorCode::kUnsupported, fmt::format("capacity {} is not compared", name));
  }

  static Evaluated attribute(const model::DeviceAttribute& attribute) {
    if (const auto* flag = std::get_if<bool>(&attribute)) return Value{*flag};
    if (const auto* number = std::get_if<Integer>(&attribute)) return Value{*number};
    if (const auto* text = std::get_if<std::string>(&attribute)) return Value{*text};
    const std::string& text = std::get<model::DeviceVersion>(attribute).text;
    auto version = parseSemver(text);
    if (!version) return fail(fmt::format("\"{}\" is no semantic version", text));
    return Value{*std::move(version)};
  }

  Evaluated index(const Node& node) {
    auto target = evaluate(*node.args[0]);
    if (!target) return target;
    auto key = evaluate(*node.args[1]);
    if (!key) return key;
    const auto* name = key->as<std::string>();
    return name == nullptr ? fail("no such key") : field(*target, *name);
  }

  Evaluated call(const Node& node) {
    using enum Function;
    switch (node.function) {
      case kAnd: return decide(node, false);
      case kOr: return decide(node, true);
      case kConditional: return conditional(node);
      default: break;
    }
    if (node.pattern) return matches(node);
    std::vector<Value> args;
    for (const auto& each : node.args) {
      auto value = evaluate(*each);
      if (!value) return value;
      args.push_back(*std::move(value));
    }
    return args.size() == 1 ? unary(node.function, args[0]) : binary(node.function, args[0], args[1]);
  }

  Evaluated matches(const Node& node) {
    auto text = evaluate(*node.args[0]);
    const auto* value = text ? text->as<std::string>() : nullptr;
    if (value == nullptr) return text ? noOverload(node.function) : std::move(text);
    return Value{re2::RE2::PartialMatch(re2::StringPiece(value->data(), value->size()), *node.pattern)};
  }

  // && is decided by one false operand, || by one true one, even if the other is an error.
  Evaluated decide(const Node& node, bool decisive) {
    auto first = evaluate(*node.args[0]);
    const bool* left = first ? first->as<bool>() : nullptr;
    if (left != nullptr && *left == decisive) return first;
    if (!first && first.error().code == kPanic) return first;
    auto second = evaluate(*node.args[1]);
    const bool* right = second ? second->as<bool>() : nullptr;
    if (right != nullptr && *right == decisive) return second;
    // What is not known here may have decided.
    if (!second && (second.error().code == ErrorCode::kUnsupported || second.error().code == kPanic))
      return second;
    if (!first) return first;
    if (!second) return second;
    if (left == nullptr || right == nullptr) return noOverload(node.function);
    return Value{!decisive};
  }

  Evaluated conditional(const Node& node) {
    auto condition = evaluate(*node.args[0]);
    if (!condition) return condition;
    const bool* flag = condition->as<bool>();
    if (flag == nullptr) return noOverload(node.function);
    return evaluate(*node.args[*flag ? 1 : 2]);
  }

  static Evaluated unary(Function function, const Value& value) {
    using enum Function;
    const auto* text = value.as<std::string>();
    switch (function) {
      case kNot:
        if (const auto* flag = value.as<bool>()) return Value{!*flag};
        break;
      case kNegate:
        if (const auto* number = value.as<Integer>()) {
          if (*number == std::numeric_limits<Integer>::min()) return fail("integer overflow");
          return Value{-*number};
        }
        break;
      case kSize:
        if (text != nullptr) return Value{lengthOf(*text)};
        if (const auto* list = value.as<List>()) return Value{static_cast<Integer>((*list)->size())};
        break;
      case kLowerAscii:
        if (text != nullptr) return Value{ascii(*text, 'A', 'Z', 'a' - 'A')};
        break;
      case kUpperAscii:
        if (text != nullptr) return Value{ascii(*text, 'a', 'z', 'A' - 'a')};
        break;
      case kQuantity:
        if (text != nullptr) return exactQuantity(*text).map([](base::Quantity each) { return Value{each}; });
        break;
      case kSemver:
      case kIsSemver: {
        if (text == nullptr) break;
        auto version = parseSemver(*text);
        if (function == kIsSemver) return Value{version.has_value()};
        if (!version) return fail(fmt::format("\"{}\" is no semantic version", *text));
        return Value{*std::move(version)};
      }
      case kMajor:
      case kMinor:
      case kPatch:
        if (const auto* version = value.as<Semver>()) {
          const auto part = function == kMajor   ? version->major
                            : function == kMinor ? version->minor
                                                 : version->patch;
          return Value{static_cast<Integer>(part)};
        }
        break;
      default: break;
    }
    return noOverload(function);
  }

  [[nodiscard]] Evaluated binary(Function function, const Value& a, const Value& b) const {
    switch (function) {
      case Function::kEqual:
        // Kubernetes' own types know no other.
        if (isOfKubernetes(a) && a.value.index() != b.value.index()) return noOverload(function);
        return Value{areEqual(a, b)};
      case Function::kUnequal: return Value{!areEqual(a, b)};
      case Function::kIn: return isIn(a, b);
      default: break;
    }
    if (const auto *x = a.as<Integer>(), *y = b.as<Integer>(); x != nullptr && y != nullptr)
      return ofIntegers(function, *x, *y);
    if (const auto *x = a.as<std::string>(), *y = b.as<std::string>(); x != nullptr && y != nullptr)
      return ofTexts(function, *x, *y);
    if (const auto *x = a.as<bool>(), *y = b.as<bool>(); x != nullptr && y != nullptr)
      return compare(function, *x <=> *y);
    if (const auto *x = a.as<base::Quantity>(), *y = b.as<base::Quantity>(); x != nullptr && y != nullptr)
      return compareByName(function, *x <=> *y);
    if (const auto *x = a.as<Semver>(), *y = b.as<Semver>(); x != nullptr && y != nullptr)
      return compareByName(function, *x <=> *y);
    return noOverload(function);
  }

  [[nodiscard]] Evaluated isIn(const Value& element, const Value& container) const {
    // A list of literals is a set of hashes there, and these types have none: the library panics.
    if (const auto* list = container.as<List>(); list != nullptr && isOfKubernetes(element))
      return base::fail(kPanic, "a version cannot be in a list of literals");
    if (const auto* list = container.as<List>())
      return Value{std::any_of((*list)->begin(), (*list)->end(),
                               [&](const Value& each) { return areEqual(element, each); })};
    const auto* map = container.as<DeviceMap>();
    if (map == nullptr) return noOverload(Function::kIn);
    const auto* name = element.as<std::string>();
    return Value{name != nullptr && holds(*map, *name)};
  }

  // By operators.
  static Evaluated compare(Function function, std::strong_ordering order) {
    switch (function) {
      case Function::kLess: return Value{order < 0};
      case Function::kLessOrEqual: return Value{order <= 0};
      case Function::kGreater: return Value{order > 0};
      case Function::kGreaterOrEqual: return Value{order >= 0};
      default: return noOverload(function);
    }
  }

  // By functions: quantities and versions have no operators.
  static Evaluated compareByName(Function function, std::strong_ordering order) {
    switch (function) {
      case Function::kCompareTo: return Value{Integer{order < 0 ? -1 : order > 0 ? 1 : 0}};
      case Function::kIsGreaterThan: return Value{order > 0};
      case Function::kIsLessThan: return Value{order < 0};
      default: return noOverload(function);
    }
  }

  static Evaluated ofIntegers(Function function, Integer a, Integer b) {
    Integer result = 0;
    bool overflows = false;
    switch (function) {
      case Function::kAdd: overflows = __builtin_add_overflow(a, b, &result); break;
      case Function::kSubtract: overflows = __builtin_sub_overflow(a, b, &result); break;
      case Function::kMultiply: overflows = __builtin_mul_overflow(a, b, &result); break;
      case Function::kDivide:
      case Function::kModulo:
        if (b == 0) return fail("division by zero");
        overflows = a == std::numeric_limits<Integer>::min() && b == -1;
        if (!overflows) result = function == Function::kDivide ? a / b : a % b;
        break;
      default: return compare(function, a <=> b);
    }
    return overflows ? fail("integer overflow") : Evaluated(Value{result});
  }

  static Evaluated ofTexts(Function function, const std::string& a, const std::string& b) {
    switch (function) {
      case Function::kAdd:
        if (a.size() + b.size() > kMaxText)
          return base::fail(ErrorCode::kUnsupported, "a string is too long");
        return Value{a + b};
      case Function::kStartsWith: return Value{a.starts_with(b)};
      case Function::kEndsWith: return Value{a.ends_with(b)};
      case Function::kContains: return Value{a.find(b) != std::string::npos};
      default: return compare(function, a <=> b);
    }
  }

  const model::Device& device_;
  std::string_view driver_;
  Scope* scope_ = nullptr;
};

}  // namespace

Evaluated evaluate(const Node& expression, const model::Device& device, std::string_view driver) {
  return Evaluator(device, driver).evaluate(expression);
}

}  // namespace trainyard::cel
