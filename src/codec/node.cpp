#include "codec/node.h"

#include "codec/decode_object.h"
#include "codec/pod_shape.h"

namespace trainyard::codec {
namespace {

// An unknown effect of a taint, introduced by a newer API server, is treated as not restricting pods.
std::optional<model::TaintEffect> parseEffect(std::string_view text) {
  if (text == "NoSchedule") return model::TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return model::TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return model::TaintEffect::kNoExecute;
  return std::nullopt;
}

model::Node readNode(const Field& root) {
  model::Node node;
  const Field meta = root["metadata"];
  node.name = model::NodeName(meta["name"].required());
  node.uid = model::Uid(meta["uid"].text());
  node.labels = readLabels(meta["labels"]);
  node.deleting = meta["deletionTimestamp"].present();

  const Field spec = root["spec"];
  node.unschedulable = spec["unschedulable"].boolean(false);
  spec["taints"].forEachElement([&](const Field& taint) {
    if (const auto effect = parseEffect(taint["effect"].text())) {
      node.taints.push_back({taint["key"].string(), taint["value"].string(), *effect});
    }
  });

  const Field status = root["status"];
  CountedNames names;
  node.allocatable = readOffered(status["allocatable"], names);
  node.uncountedResources = names.leftOut();
  status["conditions"].forEachElement([&](const Field& condition) {
    if (condition["type"].text() != "Ready") return;
    node.ready = condition["status"].text() == "True";
    node.readyChanged = condition["lastTransitionTime"].time().value_or(base::WallTime{});
  });
  return node;
}

}  // namespace

base::Result<model::Node> decodeNode(std::string_view json) {
  return decodeObject("node", json, readNode, base::OutOfRange::kSaturate);
}

std::optional<model::Node> decodePartOfNode(std::string_view json) {
  const auto document = JsonDocument::parseObject(json);
  if (!document) return std::nullopt;
  FieldErrors ignored(base::OutOfRange::kSaturate);
  model::Node node = readNode(Field(document->root(), ignored));
  if (node.name.empty()) return std::nullopt;
  node.unschedulable = true;
  node.allocatable.pods = 0;
  return node;
}

}  // namespace trainyard::codec
