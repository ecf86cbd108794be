#include "kube/event_names.h"

#include <cstddef>

#include <fmt/format.h>

namespace trainyard::kube {
namespace {

constexpr std::size_t kMaxNamePrefix = 230;  // of 253; the rest is for the suffix

}  // namespace

std::string EventNames::next(const std::string& object, base::WallTime now) {
  const auto micros = now.time_since_epoch().count();
  sequence_ = (sequence_ + 1) % 1000;
  std::string prefix = object.substr(0, kMaxNamePrefix);
  while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
  return fmt::format("{}.{:x}", prefix, micros * 1000 + sequence_);
}

}  // namespace trainyard::kube
