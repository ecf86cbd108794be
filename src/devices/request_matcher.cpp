#include "devices/request_matcher.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard::devices {
namespace {

// Names are in statuses and messages; longer ones are cut.
constexpr std::size_t kMaxName = 120;
constexpr std::size_t kKeptName = 100;
// Drivers' selectors have ten to thirty parts.
constexpr std::size_t kMaxWork = 500;

bool isTolerated(const model::DeviceTaint& taint, const model::DeviceToleration& by) {
  const bool key = by.key == taint.key || (by.key.empty() && by.exists);
  const bool value = by.exists || by.value == taint.value;
  return key && value && (by.effect.empty() || by.effect == taint.effect);
}

std::uint64_t fnv(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

std::string shortened(std::string name) {
  if (name.size() <= kMaxName) return name;
  std::size_t at = kKeptName;
  while (at > 0 && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80) --at;
  return name.substr(0, at) + "…]";
}

}  // namespace

RequestMatcher::RequestMatcher(model::DeviceRequest request,
                               std::shared_ptr<const model::DeviceClass> deviceClass)
    : request_(std::move(request)), class_(std::move(deviceClass)) {
  if (!class_) {
    problem_ = fmt::format("DeviceClass {} does not exist", request_.deviceClass);
    return;
  }
  const auto compile = [&](const std::vector<std::string>& texts, std::vector<cel::Selector>& into,
                           const std::string& whose) {
    for (const std::string& text : texts) {
      auto selector = cel::Selector::compile(text);
      if (selector) {
        into.push_back(*std::move(selector));
      } else if (problem_.empty()) {
        problem_ = fmt::format("{}: {}: {}", whose, text, selector.error().message);
      }
    }
  };
  compile(class_->selectors, ofClass_, fmt::format("a selector of DeviceClass {}", class_->name));
  compile(request_.selectors, ofRequest_, "a selector of the request");
  if (problem_.empty() && work() > kMaxWork)
    problem_ = fmt::format("its selectors have {} parts: at most {} are evaluated", work(), kMaxWork);
}

std::string RequestMatcher::name() const {
  std::vector<std::string> parts;
  bool isPlain = ofRequest_.size() == request_.selectors.size();
  for (const auto& each : ofRequest_) {
    parts.push_back(each.summary(request_.deviceClass));
    isPlain = isPlain && each.isPlain();
  }
  // A selector that is not understood is shown as it is written.
  if (ofRequest_.size() != request_.selectors.size()) parts = request_.selectors;
  for (const auto& each : request_.tolerations) {
    parts.push_back(fmt::format("tolerates {}{}{}{}", each.key.empty() ? "all taints" : each.key,
                                each.exists ? "" : "=" + each.value, each.effect.empty() ? "" : ":",
                                each.effect));
  }
  if (parts.empty()) return request_.deviceClass;
  std::string name = fmt::format("{}[{}]", request_.deviceClass, fmt::join(parts, ", "));
  if (isPlain && name.size() <= kMaxName) return name;
  // Two requests with one text would be counted as one.
  const std::uint64_t hash = fnv(fmt::format("{}{}", fmt::join(request_.selectors, "\n"), name));
  return fmt::format("{}#{:08x}", shortened(std::move(name)), hash & 0xffffffff);
}

std::size_t RequestMatcher::work() const {
  std::size_t work = 1;
  for (const auto* selectors : {&ofClass_, &ofRequest_}) {
    for (const cel::Selector& each : *selectors) work += each.size();
  }
  return work;
}

base::Result<bool> RequestMatcher::matches(const model::Device& device, const std::string& driver) const {
  if (!problem_.empty()) return false;
  // As kube-scheduler: the class first, then the request, each until one does not match.
  for (const auto* selectors : {&ofClass_, &ofRequest_}) {
    for (const cel::Selector& each : *selectors) {
      auto matches = each.matches(device, driver);
      if (!matches || !*matches) return matches;
    }
  }
  return !device.shared && !device.parted && tolerates(device);
}

bool RequestMatcher::tolerates(const model::Device& device) const {
  return std::all_of(device.taints.begin(), device.taints.end(), [&](const model::DeviceTaint& taint) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return true;
    return std::any_of(request_.tolerations.begin(), request_.tolerations.end(),
                       [&](const auto& each) { return isTolerated(taint, each); });
  });
}

}  // namespace trainyard::devices
