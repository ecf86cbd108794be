#include "model/resources.h"

#include <algorithm>
#include <iterator>

#include "base/saturating.h"
#include "model/gpu_resources.h"
#include "model/one_per_node.h"

namespace trainyard::model {
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

template <typename Combine>
void Resources::combine(const Resources& other, Combine op) {
  cpu.value = op(cpu.value, other.cpu.value);
  memory.value = op(memory.value, other.memory.value);
  ephemeralStorage.value = op(ephemeralStorage.value, other.ephemeralStorage.value);
  pods = op(pods, other.pods);
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
  result.cpu.value = base::saturatingMultiply(cpu.value, count);
  result.memory.value = base::saturatingMultiply(memory.value, count);
  result.ephemeralStorage.value = base::saturatingMultiply(ephemeralStorage.value, count);
  result.pods = base::saturatingMultiply(pods, count);
  for (auto& [name, amount] : result.extended_) amount = base::saturatingMultiply(amount, count);
  std::erase_if(result.extended_, [](const auto& entry) { return entry.second == 0; });
  return result;
}

bool Resources::covers(const Resources& wanted) const {
  const auto fits = [](std::int64_t want, std::int64_t have) { return want <= 0 || want <= have; };
  if (!fits(wanted.cpu.value, cpu.value) || !fits(wanted.memory.value, memory.value) ||
      !fits(wanted.ephemeralStorage.value, ephemeralStorage.value) || !fits(wanted.pods, pods)) {
    return false;
  }
  return std::all_of(wanted.extended_.begin(), wanted.extended_.end(),
                     [&](const auto& entry) { return fits(entry.second, capacityFor(*this, entry.first)); });
}

std::optional<ResourceShortfall> Resources::shortfallFor(const Resources& wanted) const {
  const auto lacks = [](std::int64_t want, std::int64_t have) { return want > 0 && want > have; };
  if (lacks(wanted.cpu.value, cpu.value)) return ResourceShortfall{"cpu", wanted.cpu.value, cpu.value};
  if (lacks(wanted.memory.value, memory.value)) {
    return ResourceShortfall{"memory", wanted.memory.value, memory.value};
  }
  if (lacks(wanted.ephemeralStorage.value, ephemeralStorage.value)) {
    return ResourceShortfall{"ephemeral-storage", wanted.ephemeralStorage.value, ephemeralStorage.value};
  }
  if (lacks(wanted.pods, pods)) return ResourceShortfall{"pods", wanted.pods, pods};
  for (const auto& [name, amount] : wanted.extended_) {
    if (lacks(amount, capacityFor(*this, name)))
      return ResourceShortfall{name, amount, capacityFor(*this, name)};
  }
  return std::nullopt;
}

std::int64_t Resources::timesCovered(const Resources& wanted, std::int64_t limit) const {
  std::int64_t count = limit;
  const auto bound = [&](std::int64_t want, std::int64_t have) {
    if (want > 0) count = std::min(count, have > 0 ? have / want : 0);
  };
  bound(wanted.cpu.value, cpu.value);
  bound(wanted.memory.value, memory.value);
  bound(wanted.ephemeralStorage.value, ephemeralStorage.value);
  bound(wanted.pods, pods);
  for (const auto& [name, amount] : wanted.extended_) bound(amount, capacityFor(*this, name));
  return count;
}

}  // namespace trainyard::model
