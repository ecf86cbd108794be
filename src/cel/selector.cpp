#include "cel/selector.h"

#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cel/check.h"
#include "cel/evaluate.h"
#include "cel/parser.h"
#include "cel/summary.h"

namespace trainyard::cel {
namespace {

using base::ErrorCode;

// The API server's limit.
constexpr std::size_t kMaxLength = 10'240;

std::size_t countParts(const Node& node) {
  // A regular expression costs as much as its program is long.
  std::size_t parts = 1 + (node.pattern ? static_cast<std::size_t>(node.pattern->ProgramSize()) : 0);
  for (const auto& each : node.args) parts += countParts(*each);
  return parts;
}

}  // namespace

Selector::Selector(std::unique_ptr<const Node> expression)
    : expression_(std::move(expression)), size_(countParts(*expression_)) {}
Selector::~Selector() = default;
Selector::Selector(Selector&&) noexcept = default;
Selector& Selector::operator=(Selector&&) noexcept = default;

base::Result<Selector> Selector::compile(std::string_view expression) {
  if (expression.size() > kMaxLength)
    return base::fail(ErrorCode::kInvalid, fmt::format("is longer than {} characters", kMaxLength));
  auto parsed = parse(expression);
  if (!parsed) return base::fail(parsed.error());
  const auto type = checkTypes(**parsed);
  if (!type) return base::fail(type.error());
  if (*type != Type::kBool && *type != Type::kUnknown)
    return base::fail(ErrorCode::kInvalid, fmt::format("must be true or false, is a {}", toString(*type)));
  return Selector(*std::move(parsed));
}

base::Result<bool> Selector::matches(const model::Device& device, std::string_view driver) const {
  if (!device.unreadable.empty()) return base::fail(ErrorCode::kInvalid, device.unreadable);
  const auto value = evaluate(*expression_, device, driver);
  if (!value) return base::fail(value.error());
  const bool* flag = value->as<bool>();
  if (flag == nullptr)
    return base::fail(ErrorCode::kInvalid,
                      fmt::format("is a {}, neither true nor false", toString(typeOf(*value))));
  return *flag;
}

bool Selector::isPlain() const { return cel::isPlain(*expression_); }

std::string Selector::summary(std::string_view domain) const { return summaryOf(*expression_, domain); }

}  // namespace trainyard::cel
