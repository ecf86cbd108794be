#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace trainyard::base {

// A name of one kind that does not convert to a name of another kind.
template <typename Tag>
class StrongString {
 public:
  StrongString() = default;
  explicit StrongString(std::string value) : value_(std::move(value)) {}
  explicit StrongString(std::string_view value) : value_(value) {}
  explicit StrongString(const char* value) : value_(value) {}

  [[nodiscard]] const std::string& str() const { return value_; }
  [[nodiscard]] bool empty() const { return value_.empty(); }

  friend auto operator<=>(const StrongString&, const StrongString&) = default;

 private:
  std::string value_;
};

}  // namespace trainyard::base

template <typename Tag>
struct std::hash<trainyard::base::StrongString<Tag>> {
  std::size_t operator()(const trainyard::base::StrongString<Tag>& name) const noexcept {
    return std::hash<std::string>{}(name.str());
  }
};

template <typename Tag>
struct fmt::formatter<trainyard::base::StrongString<Tag>> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const trainyard::base::StrongString<Tag>& name, Context& context) const {
    return fmt::formatter<std::string_view>::format(name.str(), context);
  }
};
