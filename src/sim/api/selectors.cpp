#include "sim/api/selectors.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/api/names.h"

namespace trainyard::sim {
namespace {

// The grammar of label selectors: requirements separated by commas that are not inside parentheses.
class LabelParser {
 public:
  explicit LabelParser(const std::string& text) : text_(text) {}

  Outcome<std::vector<LabelRequirement>> parse() {
    std::vector<LabelRequirement> result;
    skipBlanks();
    while (at_ < text_.size()) {
      auto requirement = one();
      if (!requirement) return tl::unexpected<Failure>(requirement.error());
      result.push_back(*std::move(requirement));
      skipBlanks();
      if (at_ == text_.size()) break;
      if (text_[at_] != ',') return bad("found '" + rest() + "', expected: ','");
      ++at_;
      skipBlanks();
      if (at_ == text_.size()) return bad("found '', expected: identifier after ','");
    }
    return result;
  }

 private:
  tl::unexpected<Failure> bad(const std::string& why) const {
    return failBadRequest(fmt::format("unable to parse requirement: {}", why));
  }
  std::string rest() const { return text_.substr(at_); }
  void skipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::string word() {
    skipBlanks();
    const auto start = at_;
    while (at_ < text_.size() && std::string_view(" \t,()=!<>").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(start, at_ - start);
  }
  bool take(std::string_view token) {
    skipBlanks();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }

  Outcome<LabelRequirement> one() {
    LabelRequirement requirement;
    const bool absent = take("!");
    requirement.key = word();
    if (!isQualifiedName(requirement.key)) return bad("invalid label key \"" + requirement.key + "\"");
    if (absent) {
      requirement.op = LabelRequirement::Op::kAbsent;
      return requirement;
    }
    skipBlanks();
    if (at_ == text_.size() || text_[at_] == ',') return requirement;
    return comparison(std::move(requirement));
  }

  Outcome<LabelRequirement> comparison(LabelRequirement requirement) {
    using Op = LabelRequirement::Op;
    if (take("!=")) {
      requirement.op = Op::kNotIn;
    } else if (take("==") || take("=")) {
      requirement.op = Op::kIn;
    } else if (take(">")) {
      requirement.op = Op::kGreater;
    } else if (take("<")) {
      requirement.op = Op::kLess;
    } else {
      return setComparison(std::move(requirement));
    }
    requirement.values = {word()};
    if (requirement.op == Op::kGreater || requirement.op == Op::kLess) {
      if (!number(requirement.values[0]))
        return bad("for 'Gt', 'Lt' operators, the value must be an integer");
    }
    return checked(std::move(requirement));
  }

  Outcome<LabelRequirement> setComparison(LabelRequirement requirement) {
    const std::string op = word();
    if (op != "in" && op != "notin")
      return bad(fmt::format("found '{}', expected: in, notin, =, ==, !=, gt, lt", op));
    requirement.op = op == "in" ? LabelRequirement::Op::kIn : LabelRequirement::Op::kNotIn;
    if (!take("(")) return bad("found '" + rest() + "', expected: '('");
    do {
      requirement.values.push_back(word());
    } while (take(","));
    if (!take(")")) return bad("found '" + rest() + "', expected: ',' or ')'");
    return checked(std::move(requirement));
  }

  Outcome<LabelRequirement> checked(LabelRequirement requirement) const {
    for (const auto& value : requirement.values) {
      if (!isLabelValue(value)) return bad("invalid label value \"" + value + "\"");
    }
    return requirement;
  }

 public:
  static std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

bool holds(const LabelRequirement& requirement, const Json& labels) {
  using Op = LabelRequirement::Op;
  const Json* value = find(labels, requirement.key);
  const bool present = value != nullptr && value->is_string();
  if (requirement.op == Op::kExists) return present;
  if (requirement.op == Op::kAbsent) return !present;
  if (!present) return requirement.op == Op::kNotIn;
  const auto text = value->get<std::string>();
  const bool listed =
      std::find(requirement.values.begin(), requirement.values.end(), text) != requirement.values.end();
  if (requirement.op == Op::kIn) return listed;
  if (requirement.op == Op::kNotIn) return !listed;
  const auto left = LabelParser::number(text);
  const auto right = LabelParser::number(requirement.values[0]);
  if (!left || !right) return false;
  return requirement.op == Op::kGreater ? *left > *right : *left < *right;
}

std::string fieldText(const Json& object, const std::string& path) {
  const Json* at = &object;
  std::size_t start = 0;
  while (at != nullptr && start <= path.size()) {
    const auto end = std::min(path.find('.', start), path.size());
    at = find(*at, path.substr(start, end - start));
    start = end + 1;
  }
  if (at == nullptr || at->is_null()) {
    // Selectable booleans are compared in their text form even if the zero value is omitted.
    return path == "spec.unschedulable" || path == "spec.hostNetwork" ? "false" : "";
  }
  return at->is_string() ? at->get<std::string>() : at->dump();
}

Outcome<std::vector<FieldRequirement>> parseFields(const std::string& text,
                                                   const std::vector<std::string>& known) {
  std::vector<FieldRequirement> result;
  std::size_t start = 0;
  while (start < text.size()) {
    const auto end = std::min(text.find(',', start), text.size());
    const std::string term = text.substr(start, end - start);
    start = end + 1;
    if (term.empty()) continue;
    const auto equals = term.find('=');
    if (equals == std::string::npos || equals == 0) {
      return failBadRequest(fmt::format("invalid field selector; can't understand '{}'", term));
    }
    FieldRequirement requirement;
    requirement.equal = term[equals - 1] != '!';
    requirement.path = term.substr(0, requirement.equal ? equals : equals - 1);
    const bool twice = requirement.equal && equals + 1 < term.size() && term[equals + 1] == '=';
    requirement.value = term.substr(equals + (twice ? 2 : 1));
    if (std::find(known.begin(), known.end(), requirement.path) == known.end()) {
      return failBadRequest(fmt::format("field label not supported: {}", requirement.path));
    }
    result.push_back(std::move(requirement));
  }
  return result;
}

}  // namespace

Outcome<Selector> Selector::parse(const std::string& labels, const std::string& fields,
                                  const std::vector<std::string>& knownFields) {
  Selector selector;
  auto labelTerms = LabelParser(labels).parse();
  if (!labelTerms) return tl::unexpected<Failure>(labelTerms.error());
  auto fieldTerms = parseFields(fields, knownFields);
  if (!fieldTerms) return tl::unexpected<Failure>(fieldTerms.error());
  selector.labels_ = *std::move(labelTerms);
  selector.fields_ = *std::move(fieldTerms);
  return selector;
}

bool Selector::matches(const Json& object) const {
  const Json& labels = objectAt(object, {"metadata", "labels"});
  return std::all_of(labels_.begin(), labels_.end(), [&](const auto& term) { return holds(term, labels); }) &&
         std::all_of(fields_.begin(), fields_.end(), [&](const auto& term) {
           return (fieldText(object, term.path) == term.value) == term.equal;
         });
}

}  // namespace trainyard::sim
