#include "model/message_text.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "model/resources.h"

namespace trainyard::model {
namespace {

std::string binaryAmount(std::int64_t bytes) {
  static constexpr std::array<std::string_view, 4> kSuffixes = {"", "Ki", "Mi", "Gi"};
  std::size_t suffix = 0;
  while (suffix + 1 < kSuffixes.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++suffix;
  }
  // "125.7Gi" is easier to read than a node's "131899012Ki"; rounding down to one decimal never overstates.
  double shown = static_cast<double>(bytes);
  bool exact = true;
  while (suffix + 1 < kSuffixes.size() && shown >= 10'240) {
    shown /= 1024;
    ++suffix;
    exact = false;
  }
  if (exact) return fmt::format("{}{}", bytes, kSuffixes[suffix]);
  return fmt::format("{:.1f}{}", static_cast<double>(static_cast<std::int64_t>(shown * 10)) / 10,
                     kSuffixes[suffix]);
}

}  // namespace

std::string counted(std::int64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string joinList(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string amountOf(std::string_view resource, std::int64_t amount) {
  const std::optional<ResourceUnit> unit = nativeUnit(resource);
  if (unit == ResourceUnit::kMillicores) {
    return amount % 1000 == 0 ? fmt::format("{} {}", amount / 1000, resource)
                              : fmt::format("{}m {}", amount, resource);
  }
  if (unit == ResourceUnit::kBytes) return fmt::format("{} {}", binaryAmount(amount), resource);
  if (resource == "pods") return counted(amount, "pod slot");
  return fmt::format("{} {}", amount, resource);
}

}  // namespace trainyard::model
