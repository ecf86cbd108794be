#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/value.h"

namespace re2 {
class RE2;
}

namespace trainyard::cel {

// The functions and operators of the subset. Each has a row in kFunctions.
enum class Function {
  kOr,
  kAnd,
  kNot,
  kNegate,
  kEqual,
  kUnequal,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kConditional,
  kSize,
  kStartsWith,
  kEndsWith,
  kContains,
  kMatches,
  kLowerAscii,
  kUpperAscii,
  kQuantity,
  kSemver,
  kIsSemver,
  kMajor,
  kMinor,
  kPatch,
  kCompareTo,
  kIsGreaterThan,
  kIsLessThan,
};

enum class Form { kOperator, kGlobal, kMember, kGlobalOrMember };

struct FunctionTraits {
  Function function;
  std::string_view name;
  Form form;
  std::size_t arguments;  // the target of a member among them
};

inline constexpr auto kFunctions = [] {
  using Row = FunctionTraits;
  using enum Function;
  using enum Form;
  return std::array{
      Row{kOr, "||", kOperator, 2},
      Row{kAnd, "&&", kOperator, 2},
      Row{kNot, "!", kOperator, 1},
      Row{kNegate, "-", kOperator, 1},
      Row{kEqual, "==", kOperator, 2},
      Row{kUnequal, "!=", kOperator, 2},
      Row{kLess, "<", kOperator, 2},
      Row{kLessOrEqual, "<=", kOperator, 2},
      Row{kGreater, ">", kOperator, 2},
      Row{kGreaterOrEqual, ">=", kOperator, 2},
      Row{kIn, "in", kOperator, 2},
      Row{kAdd, "+", kOperator, 2},
      Row{kSubtract, "-", kOperator, 2},
      Row{kMultiply, "*", kOperator, 2},
      Row{kDivide, "/", kOperator, 2},
      Row{kModulo, "%", kOperator, 2},
      Row{kConditional, "?:", kOperator, 3},
      Row{kSize, "size", kGlobalOrMember, 1},
      Row{kStartsWith, "startsWith", kMember, 2},
      Row{kEndsWith, "endsWith", kMember, 2},
      Row{kContains, "contains", kMember, 2},
      Row{kMatches, "matches", kGlobalOrMember, 2},
      Row{kLowerAscii, "lowerAscii", kMember, 1},
      Row{kUpperAscii, "upperAscii", kMember, 1},
      Row{kQuantity, "quantity", kGlobal, 1},
      Row{kSemver, "semver", kGlobal, 1},
      Row{kIsSemver, "isSemver", kGlobal, 1},
      Row{kMajor, "major", kMember, 1},
      Row{kMinor, "minor", kMember, 1},
      Row{kPatch, "patch", kMember, 1},
      Row{kCompareTo, "compareTo", kMember, 2},
      Row{kIsGreaterThan, "isGreaterThan", kMember, 2},
      Row{kIsLessThan, "isLessThan", kMember, 2},
  };
}();

[[nodiscard]] constexpr const FunctionTraits& traitsOf(Function function) {
  return kFunctions[static_cast<std::size_t>(function)];
}

enum class NodeKind {
  kLiteral,   // value
  kList,      // args
  kVariable,  // name: device, or one that cel.bind() defines
  kSelect,    // args[0].name
  kIndex,     // args[0][args[1]]
  kHas,       // has(args[0].name)
  kCall,      // function(args)
  kBind,      // cel.bind(name, args[0], args[1])
};

struct Node {
  NodeKind kind = NodeKind::kLiteral;
  std::optional<Value> value = std::nullopt;
  std::string name = {};
  Function function = Function::kOr;
  std::vector<std::unique_ptr<Node>> args = {};
  std::size_t at = 0;                                 // position in the expression, for messages
  std::shared_ptr<const re2::RE2> pattern = nullptr;  // of matches()
};
using NodePtr = std::unique_ptr<Node>;

inline constexpr std::string_view kDeviceVariable = "device";

}  // namespace trainyard::cel
