#include "model/resources.h"

#include <algorithm>
#include <iterator>

#include "base/saturating.h"
#include "model/gpu_resources.h"
#include "model/one_per_node.h"

namespace trainyard::model {

static_assert(sizeof(Resources) == kNativeResourceCount * sizeof(std::int64_t) + sizeof(Resources::Extended),
              "each member has a row in kNativeResources");

namespace {

Resources::Extended::const_iterator placeOf(const Resources::Extended& all, std::string_view name) {
  return std::lower_bound(all.begin(), all.end(), name,
                          [](const auto& entry, std::string_view key) { return entry.first < key; });
}

// The amount to compare with a request: every node has one unit of each resource that only one pod may have.
std::int64_t capacityFor(const Resources& capacity, std::string_view name) {
  return capacity.extended(name) + (isOnePerNode(name) ? 1 : 0);
}

}  // namespace

std::int64_t Resources::extended(std::string_view name) const {
  const auto at = placeOf(extended_, name);
  return at != extended_.end() && at->first == name ? at->second : 0;
}

void Resources::setExtended(std::string_view name, std::int64_t amount) {
  const auto at = extended_.begin() + (placeOf(extended_, name) - extended_.cbegin());
  const bool present = at != extended_.end() && at->first == name;
  if (present && amount == 0) {
    extended_.erase(at);
  } else if (present) {
    at->second = amount;
  } else if (amount != 0) {
    extended_.emplace(at, std::string(name), amount);
  }
}

std::int64_t Resources::amount(std::string_view name) const {
  std::int64_t found = 0;
  const bool isExtended = allNative([&](const auto& native) {
    if (native.name != name) return true;
    found = native.in(*this);
    return false;
  });
  return isExtended ? extended(name) : found;
}

void Resources::setAmount(std::string_view name, std::int64_t amount) {
  const bool isExtended = allNative([&](const auto& native) {
    if (native.name != name) return true;
    native.in(*this) = amount;
    return false;
  });
  if (isExtended) setExtended(name, amount);
}

template <typename Combine>
void Resources::combine(const Resources& other, Combine op) {
  forEachNative([&](const auto& native) {
    std::int64_t& amount = native.in(*this);
    amount = op(amount, native.in(other));
  });
  const auto byName = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (std::includes(extended_.begin(), extended_.end(), other.extended_.begin(), other.extended_.end(),
                    byName)) {
    auto mine = extended_.begin();
    for (const auto& [name, amount] : other.extended_) {
      while (mine->first != name) ++mine;
      mine->second = op(mine->second, amount);
    }
  } else {
    Extended both;
    both.reserve(extended_.size() + other.extended_.size());
    auto mine = extended_.begin();
    for (const auto& [name, amount] : other.extended_) {
      while (mine != extended_.end() && mine->first < name) both.push_back(std::move(*mine++));
      const bool known = mine != extended_.end() && mine->first == name;
      both.emplace_back(name, op(known ? mine->second : 0, amount));
      if (known) ++mine;
    }
    both.insert(both.end(), std::make_move_iterator(mine), std::make_move_iterator(extended_.end()));
    extended_ = std::move(both);
  }
  std::erase_if(extended_, [](const auto& entry) { return entry.second == 0; });
}

std::int64_t Resources::gpus() const {
  std::int64_t sum = 0;
  for (const std::string& name : gpuResources()) sum = base::saturatingAdd(sum, extended(name));
  return sum;
}

void Resources::add(const Resources& other) { combine(other, base::saturatingAdd); }

void Resources::subtract(const Resources& other) { combine(other, base::saturatingSubtract); }

void Resources::subtractUpTo(const Resources& other) {
  combine(other, [](std::int64_t a, std::int64_t b) {
    return std::max<std::int64_t>(base::saturatingSubtract(a, b), 0);
  });
}

void Resources::raiseTo(const Resources& other) {
  combine(other, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

Resources Resources::times(std::int64_t count) const {
  Resources result = *this;
  forEachNative(
      [&](const auto& native) { native.in(result) = base::saturatingMultiply(native.in(*this), count); });
  for (auto& [name, amount] : result.extended_) amount = base::saturatingMultiply(amount, count);
  std::erase_if(result.extended_, [](const auto& entry) { return entry.second == 0; });
  return result;
}

bool Resources::covers(const Resources& wanted) const {
  const auto fits = [](std::int64_t want, std::int64_t have) { return want <= 0 || want <= have; };
  if (!allNative([&](const auto& native) { return fits(native.in(wanted), native.in(*this)); })) return false;
  return std::all_of(wanted.extended_.begin(), wanted.extended_.end(),
                     [&](const auto& entry) { return fits(entry.second, capacityFor(*this, entry.first)); });
}

std::optional<ResourceShortfall> Resources::shortfallFor(const Resources& wanted) const {
  std::optional<ResourceShortfall> shortfall;
  const auto fits = [&](std::string_view name, std::int64_t want, std::int64_t have) {
    if (want <= 0 || want <= have) return true;
    shortfall = ResourceShortfall{std::string(name), want, have};
    return false;
  };
  if (!allNative([&](const auto& native) { return fits(native.name, native.in(wanted), native.in(*this)); }))
    return shortfall;
  for (const auto& [name, amount] : wanted.extended_) {
    if (!fits(name, amount, capacityFor(*this, name))) return shortfall;
  }
  return std::nullopt;
}

std::int64_t Resources::timesCovered(const Resources& wanted, std::int64_t limit) const {
  std::int64_t count = limit;
  const auto bound = [&](std::int64_t want, std::int64_t have) {
    if (want > 0) count = std::min(count, have > 0 ? have / want : 0);
  };
  forEachNative([&](const auto& native) { bound(native.in(wanted), native.in(*this)); });
  for (const auto& [name, amount] : wanted.extended_) bound(amount, capacityFor(*this, name));
  return count;
}

std::optional<ResourceUnit> nativeUnit(std::string_view name) {
  std::optional<ResourceUnit> unit;
  forEachNative([&](const auto& native) {
    if (native.name == name) unit = native.unit;
  });
  return unit;
}

}  // namespace trainyard::model
