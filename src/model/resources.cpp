#include "model/resources.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/names.h"
#include "model/one_a_node.h"

namespace trainyard::model {
namespace {

template <typename Combine>
void combine(Resources& into, const Resources& other, Combine op) {
  into.cpu.value = op(into.cpu.value, other.cpu.value);
  into.memory.value = op(into.memory.value, other.memory.value);
  into.ephemeralStorage.value = op(into.ephemeralStorage.value, other.ephemeralStorage.value);
  into.pods = op(into.pods, other.pods);
  for (const auto& [name, amount] : other.extendedAll()) {
    into.setExtended(name, op(into.extended(name), amount));
  }
}

// Of what is wanted, as it is to be compared: every node has one of what only one pod of it may have.
std::int64_t roomFor(const Resources& room, std::string_view name) {
  return room.extended(name) + (isOneANode(name) ? 1 : 0);
}

}  // namespace

std::int64_t Resources::extended(std::string_view name) const {
  for (const auto& [key, amount] : extended_) {
    if (key == name) return amount;
  }
  return 0;
}

void Resources::setExtended(std::string_view name, std::int64_t amount) {
  const auto at = std::lower_bound(extended_.begin(), extended_.end(), name,
                                   [](const auto& entry, std::string_view key) { return entry.first < key; });
  const bool present = at != extended_.end() && at->first == name;
  if (present && amount == 0) {
    extended_.erase(at);
  } else if (present) {
    at->second = amount;
  } else if (amount != 0) {
    extended_.emplace(at, std::string(name), amount);
  }
}

std::int64_t Resources::gpus() const { return extended(names::kGpuResource); }

void Resources::add(const Resources& other) { combine(*this, other, base::saturatingAdd); }

void Resources::subtract(const Resources& other) { combine(*this, other, base::saturatingSubtract); }

void Resources::raiseTo(const Resources& other) {
  combine(*this, other, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

Resources Resources::times(std::int64_t count) const {
  Resources result = *this;
  result.cpu.value = base::saturatingMultiply(cpu.value, count);
  result.memory.value = base::saturatingMultiply(memory.value, count);
  result.ephemeralStorage.value = base::saturatingMultiply(ephemeralStorage.value, count);
  result.pods = base::saturatingMultiply(pods, count);
  for (const auto& [name, amount] : extended_)
    result.setExtended(name, base::saturatingMultiply(amount, count));
  return result;
}

bool Resources::covers(const Resources& wanted) const {
  const auto fits = [](std::int64_t want, std::int64_t have) { return want <= 0 || want <= have; };
  if (!fits(wanted.cpu.value, cpu.value) || !fits(wanted.memory.value, memory.value) ||
      !fits(wanted.ephemeralStorage.value, ephemeralStorage.value) || !fits(wanted.pods, pods)) {
    return false;
  }
  return std::all_of(wanted.extended_.begin(), wanted.extended_.end(),
                     [&](const auto& entry) { return fits(entry.second, roomFor(*this, entry.first)); });
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
    if (lacks(amount, roomFor(*this, name))) return ResourceShortfall{name, amount, roomFor(*this, name)};
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
  for (const auto& [name, amount] : wanted.extended_) bound(amount, roomFor(*this, name));
  return count;
}

}  // namespace trainyard::model
