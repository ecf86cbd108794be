#include "cel/check.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace trainyard::cel {
namespace {

using base::ErrorCode;

// A type, and for maps which one.
struct Known {
  Type type = Type::kUnknown;
  std::optional<MapKind> map = std::nullopt;
  // The type of a list's elements.
  Type element = Type::kUnknown;
  bool isEmpty = false;
  // Not even kube-scheduler's library knows its type, and does not take it for the whole expression.
  bool isDynamic = false;
};
using Checked = base::Result<Known>;

bool mayBe(Type type, Type wanted) { return type == Type::kUnknown || type == wanted; }
bool mayBeEqual(Type a, Type b) { return a == Type::kUnknown || b == Type::kUnknown || a == b; }

class Checker {
 public:
  Checked check(const Node& node) {
    switch (node.kind) {
      case NodeKind::kLiteral: return Known{typeOf(*node.value)};
      case NodeKind::kList: return checkList(node);
      case NodeKind::kVariable: return checkVariable(node);
      case NodeKind::kSelect: return checkSelect(node);
      case NodeKind::kIndex: return checkIndex(node);
      case NodeKind::kHas: return checkHas(node);
      case NodeKind::kBind: return checkBind(node);
      case NodeKind::kCall: return checkCall(node);
    }
    return fail(node, ErrorCode::kInternal, "an unknown kind of expression");
  }

 private:
  static tl::unexpected<base::Error> fail(const Node& node, ErrorCode code, std::string_view what) {
    return base::fail(code, fmt::format("{} at character {}", what, node.at + 1));
  }

  Checked checkList(const Node& node) {
    Known list{.type = Type::kList, .isEmpty = node.args.empty()};
    bool first = true;
    for (const auto& each : node.args) {
      const auto element = check(*each);
      if (!element) return element;
      if (each->kind != NodeKind::kLiteral)
        return fail(*each, ErrorCode::kUnsupported, "an element of a list that is no literal");
      if (!first && list.element != element->type)
        return fail(*each, ErrorCode::kInvalid, "an element of another type than the first one of its list");
      list.element = element->type;
      first = false;
    }
    return list;
  }

  Checked checkVariable(const Node& node) {
    for (auto at = bound_.rbegin(); at != bound_.rend(); ++at) {
      if (at->first == node.name) return at->second;
    }
    if (node.name == kDeviceVariable) return Known{Type::kMap, MapKind::kDevice};
    return fail(node, ErrorCode::kInvalid, fmt::format("\"{}\" is not known", node.name));
  }

  static Checked fieldOf(const Node& node, const Known& target) {
    if (!target.map) {
      if (target.type == Type::kUnknown) return Known{.isDynamic = true};
      return fail(node, ErrorCode::kInvalid, fmt::format("a {} has no fields", toString(target.type)));
    }
    switch (*target.map) {
      case MapKind::kDevice:
        if (node.name == "driver") return Known{Type::kString};
        if (node.name == "allowMultipleAllocations") return Known{Type::kBool};
        if (node.name == "attributes") return Known{Type::kMap, MapKind::kAttributes};
        if (node.name == "capacity") return Known{Type::kMap, MapKind::kCapacity};
        return fail(node, ErrorCode::kInvalid, fmt::format("device has no field \"{}\"", node.name));
      case MapKind::kAttributes: return Known{Type::kMap, MapKind::kInnerAttributes};
      case MapKind::kCapacity: return Known{Type::kMap, MapKind::kInnerCapacity};
      case MapKind::kInnerAttributes: return Known{};
      case MapKind::kInnerCapacity: return Known{Type::kQuantity};
    }
    return Known{};
  }

  Checked checkSelect(const Node& node) {
    const auto target = check(*node.args[0]);
    return target ? fieldOf(node, *target) : target;
  }

  Checked checkIndex(const Node& node) {
    const auto target = check(*node.args[0]);
    if (!target) return target;
    const auto key = check(*node.args[1]);
    if (!key) return key;
    if (target->map) {
      if (*target->map == MapKind::kDevice)
        return fail(node, ErrorCode::kInvalid, "device cannot be indexed");
      if (!mayBe(key->type, Type::kString))
        return fail(node, ErrorCode::kInvalid, "an index that is no string");
      return fieldOf(node, *target);
    }
    if (target->type == Type::kList) return fail(node, ErrorCode::kUnsupported, "an index into a list");
    if (target->type == Type::kUnknown) return Known{.isDynamic = true};
    return fail(node, ErrorCode::kInvalid, fmt::format("a {} cannot be indexed", toString(target->type)));
  }

  // kube-scheduler's outer maps have each domain, so what has() says of them depends on how they are made.
  Checked checkHas(const Node& node) {
    const auto target = check(*node.args[0]);
    if (!target) return target;
    const bool inner = target->map == MapKind::kInnerAttributes || target->map == MapKind::kInnerCapacity;
    if (!inner)
      return fail(node, ErrorCode::kUnsupported, "has() of something else than an attribute or a capacity");
    return Known{Type::kBool};
  }

  Checked checkBind(const Node& node) {
    const auto value = check(*node.args[0]);
    if (!value) return value;
    bound_.emplace_back(node.name, *value);
    auto body = check(*node.args[1]);
    bound_.pop_back();
    return body;
  }

  Checked checkCall(const Node& node) {
    std::vector<Known> args;
    for (const auto& each : node.args) {
      const auto arg = check(*each);
      if (!arg) return arg;
      args.push_back(*arg);
    }
    const bool isList = args.back().type == Type::kList;
    if (node.function == Function::kIn && isList && node.args[1]->kind != NodeKind::kList)
      return fail(node, ErrorCode::kUnsupported, "in a list that is not written there");
    if ((node.function == Function::kEqual || node.function == Function::kUnequal) &&
        (isList || args.front().type == Type::kList))
      return fail(node, ErrorCode::kUnsupported, "a comparison of lists");
    const auto result = resultOf(node.function, args);
    if (result) return *result;
    const bool ofMap =
        std::any_of(args.begin(), args.end(), [](const Known& each) { return each.map.has_value(); }) ||
        node.function == Function::kIn;
    return fail(node, ofMap ? ErrorCode::kUnsupported : ErrorCode::kInvalid,
                fmt::format("{} does not take these operands", traitsOf(node.function).name));
  }

  // Returns nullopt if no overload can match.
  static std::optional<Known> resultOf(Function function, const std::vector<Known>& args) {
    const Type first = args[0].type;
    const Type second = args.size() > 1 ? args[1].type : Type::kUnknown;
    const auto all = [&](Type wanted, Type result) -> std::optional<Known> {
      const bool fits =
          std::all_of(args.begin(), args.end(), [&](const Known& each) { return mayBe(each.type, wanted); });
      return fits ? std::optional(Known{result}) : std::nullopt;
    };
    const auto either = [](std::initializer_list<std::optional<Known>> overloads) {
      std::optional<Known> found;
      for (const auto& each : overloads) {
        if (!each) continue;
        // Several overloads: which one is known only when it runs.
        found = found && found->type != each->type ? Known{.isDynamic = true} : *each;
      }
      return found;
    };
    using enum Function;
    switch (function) {
      case kOr:
      case kAnd:
      case kNot: return all(Type::kBool, Type::kBool);
      case kNegate: return all(Type::kInt, Type::kInt);
      case kEqual:
      case kUnequal:
        if (args[0].map || args[1].map || !mayBeEqual(first, second)) return std::nullopt;
        return Known{Type::kBool};
      case kLess:
      case kLessOrEqual:
      case kGreater:
      case kGreaterOrEqual:
        return either(
            {all(Type::kInt, Type::kBool), all(Type::kString, Type::kBool), all(Type::kBool, Type::kBool)});
      case kIn: return inResult(args);
      case kAdd: return either({all(Type::kInt, Type::kInt), all(Type::kString, Type::kString)});
      case kSubtract:
      case kMultiply:
      case kDivide:
      case kModulo: return all(Type::kInt, Type::kInt);
      case kConditional:
        if (!mayBe(first, Type::kBool) || !mayBeEqual(second, args[2].type) || args[1].map || args[2].map)
          return std::nullopt;
        return second == args[2].type ? args[1] : Known{};
      case kSize:
        if (args[0].map || !(mayBe(first, Type::kString) || first == Type::kList)) return std::nullopt;
        return Known{Type::kInt};
      case kStartsWith:
      case kEndsWith:
      case kContains:
      case kMatches:
      case kIsSemver: return all(Type::kString, Type::kBool);
      case kLowerAscii:
      case kUpperAscii: return all(Type::kString, Type::kString);
      case kQuantity: return all(Type::kString, Type::kQuantity);
      case kSemver: return all(Type::kString, Type::kSemver);
      case kMajor:
      case kMinor:
      case kPatch: return all(Type::kSemver, Type::kInt);
      case kCompareTo: return either({all(Type::kQuantity, Type::kInt), all(Type::kSemver, Type::kInt)});
      case kIsGreaterThan:
      case kIsLessThan: return either({all(Type::kQuantity, Type::kBool), all(Type::kSemver, Type::kBool)});
    }
    return std::nullopt;
  }

  static std::optional<Known> inResult(const std::vector<Known>& args) {
    const bool inner = args[1].map && *args[1].map != MapKind::kDevice;
    const bool list = args[1].type == Type::kList && !args[1].isEmpty;
    const bool fits =
        (inner && mayBe(args[0].type, Type::kString)) || (list && mayBeEqual(args[0].type, args[1].element));
    return fits && !args[0].map ? std::optional(Known{Type::kBool}) : std::nullopt;
  }

  std::vector<std::pair<std::string, Known>> bound_;
};

}  // namespace

base::Result<Type> checkTypes(const Node& expression) {
  const auto whole = Checker().check(expression);
  if (!whole) return base::fail(whole.error());
  if (whole->isDynamic) return base::fail(ErrorCode::kInvalid, "it is open whether it is true or false");
  return whole->type;
}

}  // namespace trainyard::cel
