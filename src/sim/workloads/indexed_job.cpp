#include "sim/workloads/indexed_job.h"

#include "codec/object_meta.h"
#include "sim/nodes/read_json.h"

namespace trainyard::sim {

base::Result<IndexedJob> decodeIndexedJob(std::string_view json) {
  const auto document = codec::JsonDocument::parseObject(json);
  if (!document) return base::fail(document.error());
  const codec::JsonValue root = document->root();
  const auto number = [&](const char* field, int otherwise) {
    return static_cast<int>(valueAt(root, {"spec", field}).integer().value_or(otherwise));
  };
  IndexedJob job{
      .key = {textAt(root, {"metadata", "namespace"}), textAt(root, {"metadata", "name"})},
      .uid = model::Uid(textAt(root, {"metadata", "uid"})),
      .resourceVersion = textAt(root, {"metadata", "resourceVersion"}),
      .deleting = valueAt(root, {"metadata", "deletionTimestamp"}).present(),
      .suspended = valueAt(root, {"spec", "suspend"}).boolean().value_or(false),
      .inOrder = textAt(root, {"metadata", "annotations", "sim.trainyard.dev/creates"}) == "in-order",
      .completions = number("completions", 1),
      .parallelism = number("parallelism", 1),
      .backoffLimit = number("backoffLimit", 6),
      .podTemplate = std::string(valueAt(root, {"spec", "template"}).minified())};
  valueAt(root, {"status", "conditions"}).forEachElement([&](codec::JsonValue each) {
    const std::string type = textAt(each, {"type"});
    job.ended = job.ended || ((type == "Complete" || type == "Failed") && textAt(each, {"status"}) == "True");
  });
  return job;
}

}  // namespace trainyard::sim
