#include "model/queue.h"

#include <algorithm>

#include "base/saturating.h"

namespace trainyard::model {
namespace {

template <typename Entries>
auto placeOf(Entries& entries, std::string_view resource) {
  return std::lower_bound(entries.begin(), entries.end(), resource,
                          [](const auto& entry, std::string_view name) { return entry.first < name; });
}

}  // namespace

Quota::Quota(std::vector<std::pair<std::string, std::int64_t>> entries) {
  for (auto& [resource, amount] : entries) set(resource, amount);
}

std::optional<std::int64_t> Quota::find(std::string_view resource) const {
  const auto at = placeOf(entries_, resource);
  if (at == entries_.end() || at->first != resource) return std::nullopt;
  return at->second;
}

void Quota::set(std::string_view resource, std::int64_t amount) {
  const auto at = placeOf(entries_, resource);
  if (at != entries_.end() && at->first == resource) {
    at->second = amount;
  } else {
    entries_.emplace(at, std::string(resource), amount);
  }
}

void Quota::add(std::string_view resource, std::int64_t amount) {
  set(resource, base::saturatingAdd(this->amount(resource), amount));
}

}  // namespace trainyard::model
