#include "codec/quota.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codec/label_syntax.h"
#include "model/limits.h"

namespace trainyard::codec {
namespace {

using Unit = model::ResourceUnit;

Unit unitOf(std::string_view resource) { return model::nativeUnit(resource).value_or(Unit::kPieces); }

// Returns why no pod can be charged for the name, as a resource or as a type of GPU; empty if one can. A
// misspelt name would otherwise silently guarantee and limit nothing.
std::string whyNoResource(std::string_view name) {
  if (name.starts_with(model::kGpuTypePrefix)) {
    if (isLabelName(name.substr(model::kGpuTypePrefix.size()))) return {};
    return "must be gpu-type.trainyard.dev/ and a type of GPU as nodes are labelled with it";
  }
  if (model::nativeUnit(name) || name.starts_with("hugepages-")) return {};
  const auto slash = name.find('/');
  const bool extended = slash != std::string_view::npos && slash != 0 && slash + 1 < name.size() &&
                        name.find('/', slash + 1) == std::string_view::npos;
  if (extended && !name.starts_with("requests.")) return {};
  std::string natives;
  model::forEachNative([&](const auto& native) { natives += fmt::format("{}, ", native.name); });
  return fmt::format("is not a resource that pods request: {}or a name such as nvidia.com/gpu", natives);
}

constexpr std::array<std::pair<std::string_view, int>, 5> kBinarySuffixes{
    {{"Pi", 50}, {"Ti", 40}, {"Gi", 30}, {"Mi", 20}, {"Ki", 10}}};

std::string quantityText(Unit unit, std::int64_t amount) {
  if (unit == Unit::kMillicores) {
    return amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount);
  }
  if (unit == Unit::kBytes && amount != 0) {
    for (const auto& [suffix, bits] : kBinarySuffixes) {
      const std::int64_t one = std::int64_t{1} << bits;
      if (amount % one == 0) return fmt::format("{}{}", amount / one, suffix);
    }
  }
  return fmt::format("{}", amount);
}

// Parses what quantityText() writes; nullopt for everything else.
std::optional<std::int64_t> writtenAmount(Unit unit, std::string_view text) {
  std::int64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(stopped - text.data()));
  std::int64_t scale = unit == Unit::kMillicores ? 1000 : 1;
  if (unit == Unit::kMillicores && suffix == "m") {
    scale = 1;
  } else if (!suffix.empty()) {
    const auto* const known = std::find_if(kBinarySuffixes.begin(), kBinarySuffixes.end(),
                                           [&](const auto& each) { return each.first == suffix; });
    if (known == kBinarySuffixes.end() || unit != Unit::kBytes) return std::nullopt;
    scale = std::int64_t{1} << known->second;
  }
  std::int64_t amount = 0;
  if (__builtin_mul_overflow(number, scale, &amount)) return std::nullopt;
  return amount;
}

std::int64_t amountOf(Unit unit, const base::Quantity& quantity) {
  return unit == Unit::kMillicores ? quantity.milli() : quantity.unitsRoundedDown();
}

}  // namespace

model::Quota readQuota(const Field& map) {
  std::vector<std::pair<std::string, std::int64_t>> entries;
  map.forEachMember([&](std::string_view name, const Field& field) {
    if (entries.size() >= model::limits::kResourceNames)
      return map.complain(fmt::format("must not name more than {} resources", model::limits::kResourceNames));
    if (const std::string why = whyNoResource(name); !why.empty()) return field.complain(why);
    if (!field.present()) return field.complain("is required");
    const Unit unit = unitOf(name);
    const base::Quantity quantity = field.quantity();
    if (quantity < base::Quantity()) return field.refuse("must not be negative");
    if (unit == Unit::kPieces && quantity.milli() % 1000 != 0) return field.refuse("must be a whole number");
    entries.emplace_back(name, amountOf(unit, quantity));
  });
  return model::Quota(std::move(entries));
}

std::string amountText(std::string_view resource, std::int64_t amount) {
  return quantityText(unitOf(resource), amount);
}

void writeQuota(const model::Quota& quota, JsonWriter& out) {
  out.beginObject();
  for (const auto& [name, amount] : quota.entries()) out.member(name, amountText(name, amount));
  out.endObject();
}

void writeAmounts(const model::Resources& amounts, JsonWriter& out) {
  std::vector<std::pair<std::string, std::int64_t>> entries = amounts.extendedAll();
  const auto add = [&](std::string_view name, std::int64_t amount) {
    if (amount != 0) entries.emplace_back(name, amount);
  };
  model::forEachNative([&](const auto& native) { add(native.name, native.in(amounts)); });
  writeQuota(model::Quota(std::move(entries)), out);
}

model::Resources readWrittenAmounts(const Field& map) {
  model::Resources amounts;
  const model::Quota written = readWrittenQuota(map);
  for (const auto& [name, amount] : written.entries()) amounts.setAmount(name, amount);
  return amounts;
}

model::Quota readWrittenQuota(const Field& map) {
  std::vector<std::pair<std::string, std::int64_t>> entries;
  map.forEachMember([&](std::string_view name, const Field& field) {
    const Unit unit = unitOf(name);
    std::optional<std::int64_t> amount;
    if (const auto text = field.value().string()) amount = writtenAmount(unit, *text);
    entries.emplace_back(name, amount ? *amount : amountOf(unit, field.quantity()));
  });
  return model::Quota(std::move(entries));
}

}  // namespace trainyard::codec
