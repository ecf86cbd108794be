#include "codec/field.h"

#include <fmt/format.h>

#include "base/cut_text.h"

namespace trainyard::codec {
namespace {

constexpr std::size_t kMaxQuoted = 80;

std::string quoted(const JsonValue& value) {
  const std::string text = value.minified();
  if (text.size() <= kMaxQuoted) return text;
  return fmt::format("{}…", base::cutText(text, kMaxQuoted));
}

}  // namespace

std::string FieldErrors::pathOf(int step) const {
  std::vector<const Step*> chain;
  for (int at = step; at >= 0; at = steps_[static_cast<std::size_t>(at)].parent) {
    chain.push_back(&steps_[static_cast<std::size_t>(at)]);
  }
  std::string path;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const Step& each = **at;
    if (each.index >= 0 && each.name.empty()) {
      path += fmt::format("[{}]", each.index);
    } else if (each.bracketed) {
      path += fmt::format("[{}]", base::cutText(each.name, kMaxQuoted));
    } else if (!each.name.empty()) {
      if (!path.empty()) path += '.';
      path += each.name;
    }
  }
  return path;
}

bool FieldErrors::firstIn(std::string_view name) const {
  for (int at = firstStep_; at >= 0; at = steps_[static_cast<std::size_t>(at)].parent) {
    const Step& step = steps_[static_cast<std::size_t>(at)];
    if (!step.bracketed && step.name == name) return true;
  }
  return false;
}

Field::Field(JsonValue root, FieldErrors& errors, std::string_view rootPath)
    : value_(root), errors_(&errors), step_(static_cast<int>(errors.steps_.size())) {
  if (errors.steps_.empty()) errors.steps_.reserve(256);
  errors.steps_.push_back({-1, rootPath, -1, false});
}

Field Field::operator[](std::string_view name) const {
  const bool usable = expect(JsonType::kObject, "an object");
  errors_->steps_.push_back({step_, name, -1, false});
  return {usable ? value_.find(name) : JsonValue(), *errors_, static_cast<int>(errors_->steps_.size()) - 1};
}

Field Field::childAt(JsonValue element, int index) const {
  errors_->steps_.push_back({step_, {}, index, true});
  return {element, *errors_, static_cast<int>(errors_->steps_.size()) - 1};
}

Field Field::childIn(JsonValue member, std::string_view name) const {
  errors_->steps_.push_back({step_, name, -1, true});
  return {member, *errors_, static_cast<int>(errors_->steps_.size()) - 1};
}

Field Field::named(std::string_view name) const {
  FieldErrors::Step step = errors_->steps_[static_cast<std::size_t>(step_)];
  step.name = name;
  errors_->steps_.push_back(step);
  return {value_, *errors_, static_cast<int>(errors_->steps_.size()) - 1};
}

void Field::complain(std::string_view what) const {
  if (errors_->any()) return;
  const std::string path = errors_->pathOf(step_);
  errors_->firstStep_ = step_;
  errors_->first_ = path.empty() ? std::string(what) : fmt::format("{}: {}", path, what);
}

void Field::refuse(std::string_view what) const {
  if (errors_->any()) return;
  complain(fmt::format("{}, is {}", what, quoted(value_)));
}

bool Field::expect(JsonType type, std::string_view what) const {
  if (value_.type() == type) return true;
  if (present()) refuse(fmt::format("expected {}", what));
  return false;
}

std::string_view Field::text(std::string_view whenAbsent) const {
  if (const auto text = value_.string()) return *text;
  if (present()) refuse("expected a string");
  return whenAbsent;
}

std::string_view Field::required() const {
  const std::string_view text = this->text();
  if (text.empty()) complain("is required");
  return text;
}

std::int64_t Field::integer(std::int64_t whenAbsent, std::int64_t least, std::int64_t most) const {
  if (!present()) return whenAbsent;
  const auto number = value_.integer();
  if (!number) {
    refuse("expected an integer");
    return whenAbsent;
  }
  if (*number < least || *number > most) {
    refuse(fmt::format("must be from {} to {}", least, most));
    return whenAbsent;
  }
  return *number;
}

int Field::smallInteger(int whenAbsent, int least, int most) const {
  return static_cast<int>(integer(whenAbsent, least, most));
}

bool Field::boolean(bool whenAbsent) const {
  if (const auto value = value_.boolean()) return *value;
  if (present()) refuse("expected true or false");
  return whenAbsent;
}

std::optional<base::WallTime> Field::time() const {
  const std::string_view text = this->text();
  if (text.empty()) return std::nullopt;
  const auto time = base::parseTime(text);
  if (time) return *time;
  complain(time.error().message);
  return std::nullopt;
}

base::Quantity Field::quantity() const {
  const JsonType type = value_.type();
  if (type != JsonType::kString && type != JsonType::kInteger && type != JsonType::kReal) {
    if (present()) refuse("expected a quantity");
    return {};
  }
  const auto quantity = base::Quantity::parse(
      type == JsonType::kString ? std::string(*value_.string()) : value_.minified(), errors_->quantities_);
  if (quantity) return *quantity;
  complain(quantity.error().message);
  return {};
}

}  // namespace trainyard::codec
