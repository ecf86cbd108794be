#include "cel/summary.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard::cel {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') out.push_back('\\');
    out.push_back(each);
  }
  return out + '"';
}

bool isCall(const Node& node, Function function) {
  return node.kind == NodeKind::kCall && node.function == function;
}

bool isZero(const Node& node) {
  const auto* number = node.kind == NodeKind::kLiteral ? node.value->as<std::int64_t>() : nullptr;
  return number != nullptr && *number == 0;
}

class Summary {
 public:
  explicit Summary(std::string_view domain) : domain_(domain) {}

  // `strength`: of the operator around it; a weaker one gets parentheses.
  std::string of(const Node& node, int strength = 0) {
    switch (node.kind) {
      case NodeKind::kLiteral: return literal(*node.value);
      case NodeKind::kList: return fmt::format("[{}]", fmt::join(all(node), ", "));
      case NodeKind::kVariable: return node.name;
      case NodeKind::kSelect: return lookUp(node, node.name);
      case NodeKind::kIndex:
        if (const auto name = textOf(*node.args[1])) return lookUp(node, *name);
        return fmt::format("{}[{}]", of(*node.args[0], kStrongest), of(*node.args[1]));
      case NodeKind::kHas: return fmt::format("has({})", lookUp(node, node.name));
      case NodeKind::kBind:
        return fmt::format("bind({}, {}, {})", node.name, of(*node.args[0]), of(*node.args[1]));
      case NodeKind::kCall: return call(node, strength);
    }
    return {};
  }

 private:
  static constexpr int kStrongest = 9;

  std::vector<std::string> all(const Node& node) {
    std::vector<std::string> texts;
    for (const auto& each : node.args) texts.push_back(of(*each));
    return texts;
  }

  static std::string literal(const Value& value) {
    if (const auto* text = value.as<std::string>()) return quoted(*text);
    if (const auto* number = value.as<std::int64_t>()) return fmt::to_string(*number);
    const auto* flag = value.as<bool>();
    return flag != nullptr && *flag ? "true" : "false";
  }

  static std::optional<std::string> textOf(const Node& node) {
    const auto* text = node.kind == NodeKind::kLiteral ? node.value->as<std::string>() : nullptr;
    return text == nullptr ? std::nullopt : std::optional(*text);
  }

  // The name of device.attributes or device.capacity; empty for another expression.
  static std::string_view mapOf(const Node& node) {
    const bool isOfDevice = node.kind == NodeKind::kSelect && node.args[0]->kind == NodeKind::kVariable &&
                            node.args[0]->name == kDeviceVariable;
    const bool isMap = isOfDevice && (node.name == "attributes" || node.name == "capacity");
    return isMap ? std::string_view(node.name) : std::string_view();
  }

  std::string lookUp(const Node& node, const std::string& name) {
    const Node& target = *node.args[0];
    if (target.kind == NodeKind::kVariable && target.name == kDeviceVariable) return name;
    const bool isInner = (target.kind == NodeKind::kIndex || target.kind == NodeKind::kSelect) &&
                         !mapOf(*target.args[0]).empty();
    if (isInner) {
      const auto domain =
          target.kind == NodeKind::kSelect ? std::optional(target.name) : textOf(*target.args[1]);
      if (domain) return *domain == domain_ ? name : fmt::format("{}/{}", *domain, name);
    }
    return fmt::format("{}.{}", of(target, kStrongest), name);
  }

  static int strengthOf(Function function) {
    using enum Function;
    switch (function) {
      case kConditional: return 1;
      case kOr: return 2;
      case kAnd: return 3;
      case kEqual:
      case kUnequal:
      case kLess:
      case kLessOrEqual:
      case kGreater:
      case kGreaterOrEqual:
      case kIn: return 4;
      case kAdd:
      case kSubtract: return 5;
      case kMultiply:
      case kDivide:
      case kModulo: return 6;
      case kNot:
      case kNegate: return 7;
      default: return kStrongest;
    }
  }

  // quantity("80Gi") is shown as 80Gi beside a comparison that only quantities have.
  std::string operand(const Node& node) {
    const bool isWrapped = isCall(node, Function::kQuantity) || isCall(node, Function::kSemver);
    if (const auto text = isWrapped ? textOf(*node.args[0]) : std::nullopt) return *text;
    return of(node, 5);
  }

  std::string call(const Node& node, int strength) {
    std::string text = bare(node);
    return strengthOf(shownAs(node)) < strength ? fmt::format("({})", text) : text;
  }

  // The operator that bare() shows.
  static Function shownAs(const Node& node) {
    if (node.function == Function::kIsGreaterThan) return Function::kGreater;
    if (node.function == Function::kIsLessThan) return Function::kLess;
    return node.function;
  }

  std::string bare(const Node& node) {
    const auto& args = node.args;
    const FunctionTraits& traits = traitsOf(node.function);
    switch (node.function) {
      case Function::kIsGreaterThan: return fmt::format("{} > {}", operand(*args[0]), operand(*args[1]));
      case Function::kIsLessThan: return fmt::format("{} < {}", operand(*args[0]), operand(*args[1]));
      case Function::kConditional:
        return fmt::format("{} ? {} : {}", of(*args[0], 2), of(*args[1], 2), of(*args[2], 1));
      case Function::kNot:
      case Function::kNegate: return fmt::format("{}{}", traits.name, of(*args[0], 7));
      default: break;
    }
    if (traits.form == Form::kOperator) {
      if (isCall(*args[0], Function::kCompareTo) && isZero(*args[1]))
        return fmt::format("{} {} {}", operand(*args[0]->args[0]), traits.name, operand(*args[0]->args[1]));
      const int own = strengthOf(node.function);
      return fmt::format("{} {} {}", of(*args[0], own), traits.name, of(*args[1], own + 1));
    }
    const auto texts = all(node);
    if (traits.form == Form::kGlobal) return fmt::format("{}({})", traits.name, fmt::join(texts, ", "));
    return fmt::format("{}.{}({})", of(*args[0], kStrongest), traits.name,
                       fmt::join(texts.begin() + 1, texts.end(), ", "));
  }

  std::string_view domain_;
};

// The map that a node looks up by literals; nullptr for another expression.
const Node* lookedUp(const Node& node) {
  const auto isStep = [](const Node& each) {
    return each.kind == NodeKind::kSelect ||
           (each.kind == NodeKind::kIndex && each.args[1]->kind == NodeKind::kLiteral);
  };
  if (!isStep(node) || !isStep(*node.args[0])) return nullptr;
  const Node& map = *node.args[0]->args[0];
  const bool isOfDevice = map.kind == NodeKind::kSelect && map.args[0]->kind == NodeKind::kVariable &&
                          map.args[0]->name == kDeviceVariable;
  return isOfDevice ? &map : nullptr;
}

bool isAttribute(const Node& node) {
  const Node* map = lookedUp(node);
  return map != nullptr && map->name == "attributes";
}

bool isCapacity(const Node& node) {
  const Node* map = lookedUp(node);
  return map != nullptr && map->name == "capacity";
}

// quantity("80Gi"): with a suffix, which no integer has.
bool isQuantityWithSuffix(const Node& node) {
  if (!isCall(node, Function::kQuantity) || node.args[0]->kind != NodeKind::kLiteral) return false;
  const auto* text = node.args[0]->value->as<std::string>();
  return text != nullptr && !text->empty() && (text->back() < '0' || text->back() > '9');
}

bool isVersion(const Node& node) {
  return isCall(node, Function::kSemver) && node.args[0]->kind == NodeKind::kLiteral;
}

bool isPair(const Node& a, const Node& b) {
  return (isCapacity(a) && isQuantityWithSuffix(b)) || (isAttribute(a) && isVersion(b));
}

}  // namespace

bool isPlain(const Node& node) {
  if (isAttribute(node)) return true;
  if (node.kind != NodeKind::kCall) return false;
  const auto& args = node.args;
  switch (node.function) {
    case Function::kAnd: return isPlain(*args[0]) && isPlain(*args[1]);
    case Function::kIsGreaterThan:
    case Function::kIsLessThan: return isPair(*args[0], *args[1]);
    case Function::kEqual:
    case Function::kUnequal:
    case Function::kLess:
    case Function::kLessOrEqual:
    case Function::kGreater:
    case Function::kGreaterOrEqual:
      if (isCall(*args[0], Function::kCompareTo))
        return isZero(*args[1]) && isPair(*args[0]->args[0], *args[0]->args[1]);
      return isAttribute(*args[0]) && args[1]->kind == NodeKind::kLiteral;
    default: return false;
  }
}

std::string summaryOf(const Node& expression, std::string_view domain) {
  return Summary(domain).of(expression);
}

}  // namespace trainyard::cel
