#include "devices/match_cache.h"

#include <fmt/format.h>

namespace trainyard::devices {
namespace {

// Parts of expressions: a few hundred milliseconds.
constexpr std::size_t kMaxWorkOfRound = 3'000'000;

}  // namespace

MatchCache::MatcherPtr MatchCache::matcherOf(const model::DeviceRequest& request,
                                             const std::shared_ptr<const model::DeviceClass>& deviceClass) {
  Known& known = known_[request];
  if (!known.matcher || known.deviceClass != deviceClass)
    known = {std::make_shared<const RequestMatcher>(request, deviceClass), deviceClass};
  known.round = round_;
  return known.matcher;
}

const MatchCache::Matches* MatchCache::matches(const MatcherPtr& matcher, const SlicePtr& slice) {
  Matches& found = known_[matcher->request()].bySlice[slice];
  found.round = round_;
  if (found.devices.size() != slice->devices.size()) {
    if (work_ > kMaxWorkOfRound) return nullptr;
    work_ += matcher->work() * slice->devices.size();
    for (const model::Device& device : slice->devices) {
      const auto matches = matcher->matches(device, slice->driver);
      found.devices.push_back(matches && *matches);
      if (!matches && found.error.empty())
        found.error = fmt::format("a selector fails for device {} of pool {}: {}", device.name, slice->pool,
                                  matches.error().message);
    }
  }
  return &found;
}

void MatchCache::nextRound() {
  std::erase_if(known_, [&](const auto& each) { return each.second.round != round_; });
  for (auto& [request, known] : known_)
    std::erase_if(known.bySlice, [&](const auto& each) { return each.second.round != round_; });
  ++round_;
  work_ = 0;
}

}  // namespace trainyard::devices
