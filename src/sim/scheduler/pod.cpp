#include "sim/scheduler/pod.h"

#include <utility>

#include "codec/pod.h"
#include "sim/nodes/read_json.h"

namespace trainyard::sim {

base::Result<SchedulerPod> decodeSchedulerPod(std::string_view json) {
  auto pod = codec::decodePodToSchedule(json);
  if (!pod) return base::fail(pod.error());
  const auto document = codec::JsonDocument::parseObject(json);
  if (!document) return base::fail(document.error());
  const codec::JsonValue root = document->root();
  SchedulerPod result{std::move(*pod), textAt(root, {"spec", "schedulerName"}), {}, {}, {}};
  valueAt(root, {"status", "conditions"}).forEachElement([&](codec::JsonValue condition) {
    if (textAt(condition, {"type"}) != "PodScheduled") return;
    result.conditionStatus = textAt(condition, {"status"});
    result.conditionReason = textAt(condition, {"reason"});
    result.conditionMessage = textAt(condition, {"message"});
  });
  return result;
}

}  // namespace trainyard::sim
