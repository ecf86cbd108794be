#include "core/guard/refusal_texts.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/gpu_resources.h"

namespace trainyard::core {
namespace {

std::string_view holders(GuardReason reason) {
  switch (reason) {
    case GuardReason::kRunning: return "of running gangs";
    case GuardReason::kHeld: return "reserved for gangs and pods just placed";
    default: return "reserved for gangs";
  }
}

}  // namespace

void RefusalTexts::refuse(std::string_view name, const ForeignPodChecker::NodeCheck& check) {
  const GuardReason reason = *check.refusal;
  ++decision_.refusedBy[static_cast<std::size_t>(reason)];
  decision_.refused.push_back({name, textFor(reason, check)});
}

void RefusalTexts::refuseNotTheBest(std::string_view name) {
  ++decision_.refusedBy[static_cast<std::size_t>(GuardReason::kNotTheBest)];
  decision_.refused.push_back({name, plain(GuardReason::kNotTheBest)});
}

std::string_view RefusalTexts::textFor(GuardReason reason, const ForeignPodChecker::NodeCheck& check) {
  if (check.lacking == nullptr) return plain(reason);
  const model::Resources& requests = pod_.shape.requests;
  // GPUs first: users wait for them most.
  const auto& gpus = model::gpuResources();
  const auto lacks = [&](const std::string& name) {
    return requests.extended(name) > std::max<std::int64_t>(check.lacking->extended(name), 0);
  };
  if (const auto gpu = std::find_if(gpus.begin(), gpus.end(), lacks); gpu != gpus.end()) {
    const std::int64_t wanted = requests.extended(*gpu);
    const std::int64_t free = check.lacking->extended(*gpu);
    const GuardNode& node = *check.node;
    const std::int64_t beside = reason == GuardReason::kRunning ? node.runningGpus : node.reservedGpus;
    return remember({reason, free, beside, gpu - gpus.begin()}, [&] {
      return fmt::format("trainyard: needs {} {}, has {} free beside {} {}", wanted, *gpu,
                         std::max<std::int64_t>(free, 0), beside, holders(reason));
    });
  }
  const auto lacking = check.lacking->shortfallFor(requests);
  const std::string_view resource = lacking ? std::string_view(lacking->resource) : "capacity";
  const auto [at, added] = byResource_.try_emplace({reason, std::string(resource)});
  if (added) {
    at->second = store(fmt::format("trainyard: too little {} beside what is {}", resource, holders(reason)));
  }
  return at->second;
}

std::string_view RefusalTexts::plain(GuardReason reason) {
  return remember({reason, 0, 0, -1}, [&]() -> std::string {
    if (reason == GuardReason::kUnknownNode) return "trainyard: the node is not known yet";
    return "trainyard: has capacity reserved for gangs, and another node was offered";
  });
}

}  // namespace trainyard::core
