#include "cel/parser.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cel/lexer.h"

namespace trainyard::cel {
namespace {

using base::ErrorCode;
using Parsed = base::Result<NodePtr>;

// Far above what drivers and users write, and far below what a stack holds.
constexpr int kMaxDepth = 100;
constexpr std::array<std::string_view, 21> kReserved{
    "as",   "break",   "const",     "continue", "else",   "for",  "function", "if",  "import", "in",   "let",
    "loop", "package", "namespace", "null",     "return", "true", "false",    "var", "void",   "while"};

NodePtr makeCall(Function function, std::vector<NodePtr> args, std::size_t at) {
  auto node = std::make_unique<Node>();
  node->kind = NodeKind::kCall;
  node->function = function;
  node->args = std::move(args);
  node->at = at;
  return node;
}

template <typename... Args>
NodePtr makeCall(Function function, std::size_t at, Args... args) {
  std::vector<NodePtr> list;
  (list.push_back(std::move(args)), ...);
  return makeCall(function, std::move(list), at);
}

NodePtr makeLiteral(Value value, std::size_t at) {
  auto node = std::make_unique<Node>();
  node->value = std::move(value);
  node->at = at;
  return node;
}

NodePtr makeNamed(NodeKind kind, std::string name, std::vector<NodePtr> args, std::size_t at) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->name = std::move(name);
  node->args = std::move(args);
  node->at = at;
  return node;
}

const FunctionTraits* findFunction(std::string_view name, bool member, std::size_t arguments) {
  const auto found = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const FunctionTraits& each) {
    const bool form =
        each.form == Form::kGlobalOrMember || each.form == (member ? Form::kMember : Form::kGlobal);
    return form && each.name == name && each.arguments == arguments;
  });
  return found == kFunctions.end() ? nullptr : &*found;
}

bool isReserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

// What is left of an expression.
class Tokens {
 public:
  explicit Tokens(std::vector<Token> all) : all_(std::move(all)) {}

  [[nodiscard]] const Token& now() const { return all_[next_]; }
  const Token& take() { return all_[next_++]; }
  [[nodiscard]] bool isAt(std::string_view symbol) const {
    return now().kind == TokenKind::kSymbol && now().text == symbol;
  }
  bool accept(std::string_view symbol) {
    if (!isAt(symbol)) return false;
    ++next_;
    return true;
  }
  [[nodiscard]] bool isAtName() const {
    return now().kind == TokenKind::kIdentifier && !isReserved(now().text);
  }
  [[nodiscard]] tl::unexpected<base::Error> refuse(ErrorCode code, std::string_view what) const {
    return base::fail(code, fmt::format("{} at character {}", what, now().at + 1));
  }
  [[nodiscard]] tl::unexpected<base::Error> unexpected() const {
    if (now().kind == TokenKind::kEnd) return refuse(ErrorCode::kInvalid, "the expression ends too early");
    return refuse(ErrorCode::kInvalid, fmt::format("\"{}\" is not expected", now().text));
  }

 private:
  std::vector<Token> all_;
  std::size_t next_ = 0;
};

// Recursive descent over the grammar of CEL's specification.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Parsed run() {
    auto whole = parseExpression();
    if (whole && tokens_.now().kind != TokenKind::kEnd) return tokens_.unexpected();
    return whole;
  }

 private:
  Parsed parseExpression() {
    if (++depth_ > kMaxDepth) return tokens_.refuse(ErrorCode::kUnsupported, "the expression nests too deep");
    auto parsed = parseConditional();
    --depth_;
    return parsed;
  }

  Parsed parseConditional() {
    auto condition = parseOr();
    const std::size_t at = tokens_.now().at;
    if (!condition || !tokens_.accept("?")) return condition;
    auto first = parseOr();
    if (!first) return first;
    if (!tokens_.accept(":")) return tokens_.unexpected();
    auto second = parseExpression();
    if (!second) return second;
    return makeCall(Function::kConditional, at, *std::move(condition), *std::move(first), *std::move(second));
  }

  template <typename Operand>
  Parsed parseChain(Operand operand, std::initializer_list<Function> operators) {
    auto left = operand();
    while (left) {
      const auto found = std::find_if(operators.begin(), operators.end(), [&](Function each) {
        const bool word = each == Function::kIn && tokens_.now().kind == TokenKind::kIdentifier;
        return (word && tokens_.now().text == "in") || tokens_.isAt(traitsOf(each).name);
      });
      if (found == operators.end()) break;
      const std::size_t at = tokens_.now().at;
      tokens_.take();
      auto right = operand();
      if (!right) return right;
      if (++chained_ > kMaxChained)
        return tokens_.refuse(ErrorCode::kUnsupported, "the expression is too long");
      left = makeCall(*found, at, *std::move(left), *std::move(right));
    }
    return left;
  }

  Parsed parseOr() {
    return parseChain([&] { return parseAnd(); }, {Function::kOr});
  }
  Parsed parseAnd() {
    return parseChain([&] { return parseRelation(); }, {Function::kAnd});
  }
  Parsed parseRelation() {
    return parseChain([&] { return parseSum(); },
                      {Function::kEqual, Function::kUnequal, Function::kLess, Function::kLessOrEqual,
                       Function::kGreater, Function::kGreaterOrEqual, Function::kIn});
  }
  Parsed parseSum() {
    return parseChain([&] { return parseProduct(); }, {Function::kAdd, Function::kSubtract});
  }
  Parsed parseProduct() {
    return parseChain([&] { return parseUnary(); },
                      {Function::kMultiply, Function::kDivide, Function::kModulo});
  }

  // As in CEL's grammar, two of the same signs are none.
  Parsed parseUnary() {
    const std::size_t at = tokens_.now().at;
    for (const Function each : {Function::kNot, Function::kNegate}) {
      bool odd = false;
      bool any = false;
      while (tokens_.accept(traitsOf(each).name)) {
        odd = !odd;
        any = true;
      }
      if (!any) continue;
      if (each == Function::kNegate && odd && tokens_.now().kind == TokenKind::kInteger)
        return parseMember(readInteger(true));
      auto operand = parseMember(parsePrimary());
      if (!operand || !odd) return operand;
      return makeCall(each, at, *std::move(operand));
    }
    return parseMember(parsePrimary());
  }

  // The smallest integer has no positive counterpart, so the sign is part of the literal.
  Parsed readInteger(bool negative) {
    const Token token = tokens_.take();
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (token.number > kLargest + (negative ? 1 : 0))
      return base::fail(ErrorCode::kInvalid, "an integer is too large");
    const auto value = static_cast<std::int64_t>(negative ? 0 - token.number : token.number);
    return makeLiteral(Value{value}, token.at);
  }

  Parsed parseMember(Parsed target) {
    while (target) {
      const std::size_t at = tokens_.now().at;
      if (tokens_.accept("[")) {
        if (tokens_.isAt("?")) return tokens_.refuse(ErrorCode::kUnsupported, "an optional index");
        auto key = parseExpression();
        if (!key) return key;
        if (!tokens_.accept("]")) return tokens_.unexpected();
        std::vector<NodePtr> args;
        args.push_back(*std::move(target));
        args.push_back(*std::move(key));
        target = makeNamed(NodeKind::kIndex, {}, std::move(args), at);
      } else if (tokens_.accept(".")) {
        target = parseField(*std::move(target), at);
      } else {
        break;
      }
      if (++chained_ > kMaxChained)
        return tokens_.refuse(ErrorCode::kUnsupported, "the expression is too long");
    }
    return target;
  }

  // A field, or a function of the target.
  Parsed parseField(NodePtr target, std::size_t at) {
    if (tokens_.isAt("?")) return tokens_.refuse(ErrorCode::kUnsupported, "an optional field");
    if (!tokens_.isAtName()) return tokens_.unexpected();
    std::string name = tokens_.take().text;
    std::vector<NodePtr> args;
    const bool isNamespace = target->kind == NodeKind::kVariable && target->name == "cel" && !isBound("cel");
    if (!tokens_.accept("(")) {
      args.push_back(std::move(target));
      return makeNamed(NodeKind::kSelect, std::move(name), std::move(args), at);
    }
    if (isNamespace && name == "bind") return parseBind(at);
    args.push_back(std::move(target));
    if (auto failed = parseArguments(args)) return base::fail(*failed);
    return call(name, true, std::move(args), at);
  }

  std::optional<base::Error> parseArguments(std::vector<NodePtr>& into) {
    if (tokens_.accept(")")) return std::nullopt;
    do {
      auto each = parseExpression();
      if (!each) return each.error();
      into.push_back(*std::move(each));
    } while (tokens_.accept(","));
    if (tokens_.accept(")")) return std::nullopt;
    return tokens_.unexpected().value();
  }

  Parsed call(const std::string& name, bool member, std::vector<NodePtr> args, std::size_t at) {
    const FunctionTraits* traits = findFunction(name, member, args.size());
    if (traits == nullptr)
      return base::fail(ErrorCode::kUnsupported,
                        fmt::format("{}() with {} arguments at character {} is not supported", name,
                                    args.size() - (member ? 1 : 0), at + 1));
    if (traits->function == Function::kMatches) return matches(std::move(args), at);
    return makeCall(traits->function, std::move(args), at);
  }

  // A pattern that is compiled for each device would let one tenant delay all others.
  static Parsed matches(std::vector<NodePtr> args, std::size_t at) {
    const Node& given = *args[1];
    const auto* text = given.kind == NodeKind::kLiteral ? given.value->as<std::string>() : nullptr;
    if (text == nullptr)
      return base::fail(ErrorCode::kUnsupported,
                        fmt::format("matches() of something else than a text at character {}", at + 1));
    auto pattern = std::make_shared<const re2::RE2>(*text, re2::RE2::Quiet);
    if (!pattern->ok())
      return base::fail(ErrorCode::kInvalid, fmt::format("no regular expression at character {}", at + 1));
    NodePtr call = makeCall(Function::kMatches, std::move(args), at);
    call->pattern = std::move(pattern);
    return call;
  }

  // cel.bind(name, value, expression)
  Parsed parseBind(std::size_t at) {
    if (!tokens_.isAtName()) return tokens_.unexpected();
    std::string name = tokens_.take().text;
    if (!tokens_.accept(",")) return tokens_.unexpected();
    auto value = parseExpression();
    if (!value) return value;
    if (!tokens_.accept(",")) return tokens_.unexpected();
    bound_.push_back(name);
    auto body = parseExpression();
    bound_.pop_back();
    if (!body) return body;
    if (!tokens_.accept(")")) return tokens_.unexpected();
    std::vector<NodePtr> args;
    args.push_back(*std::move(value));
    args.push_back(*std::move(body));
    return makeNamed(NodeKind::kBind, std::move(name), std::move(args), at);
  }

  Parsed parsePrimary() {
    const Token token = tokens_.now();
    switch (token.kind) {
      case TokenKind::kInteger: return readInteger(false);
      case TokenKind::kText: tokens_.take(); return makeLiteral(Value{token.text}, token.at);
      case TokenKind::kIdentifier: tokens_.take(); return parseName(token);
      case TokenKind::kEnd: return tokens_.unexpected();
      case TokenKind::kSymbol: break;
    }
    if (tokens_.accept("(")) {
      auto inner = parseExpression();
      if (inner && !tokens_.accept(")")) return tokens_.unexpected();
      return inner;
    }
    if (tokens_.accept("[")) return parseList(token.at);
    if (token.text == ".") return tokens_.refuse(ErrorCode::kUnsupported, "a name with a leading point");
    return tokens_.unexpected();
  }

  Parsed parseList(std::size_t at) {
    std::vector<NodePtr> elements;
    while (!tokens_.accept("]")) {
      if (!elements.empty() && !tokens_.accept(",")) return tokens_.unexpected();
      if (!elements.empty() && tokens_.accept("]")) break;
      if (tokens_.isAt("?")) return tokens_.refuse(ErrorCode::kUnsupported, "an optional element");
      auto each = parseExpression();
      if (!each) return each;
      elements.push_back(*std::move(each));
    }
    return makeNamed(NodeKind::kList, {}, std::move(elements), at);
  }

  Parsed parseName(const Token& token) {
    if (token.text == "true" || token.text == "false")
      return makeLiteral(Value{token.text == "true"}, token.at);
    if (token.text == "null") return base::fail(ErrorCode::kUnsupported, "null is not supported");
    if (isReserved(token.text))
      return base::fail(ErrorCode::kInvalid, fmt::format("\"{}\" is reserved", token.text));
    if (!tokens_.accept("(")) return makeNamed(NodeKind::kVariable, token.text, {}, token.at);
    std::vector<NodePtr> args;
    if (auto failed = parseArguments(args)) return base::fail(*failed);
    if (token.text != "has") return call(token.text, false, std::move(args), token.at);
    if (args.size() != 1 || args.front()->kind != NodeKind::kSelect)
      return base::fail(ErrorCode::kInvalid, "has() needs a field");
    NodePtr has = std::move(args.front());
    has->kind = NodeKind::kHas;
    return has;
  }

  [[nodiscard]] bool isBound(std::string_view name) const {
    return std::find(bound_.begin(), bound_.end(), name) != bound_.end();
  }

  static constexpr int kMaxChained = 2'000;

  Tokens tokens_;
  int depth_ = 0;
  int chained_ = 0;  // operators, fields and indices: they nest to the left
  std::vector<std::string> bound_;
};

}  // namespace

base::Result<NodePtr> parse(std::string_view expression) {
  auto tokens = tokenize(expression);
  if (!tokens) return base::fail(tokens.error());
  return Parser(*std::move(tokens)).run();
}

}  // namespace trainyard::cel
