#include "codec/pod.h"

#include "codec/json_value.h"
#include "codec/release_patch.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void pod(std::string_view input) {
  const auto pod = codec::decodePod(input);
  if (!pod) {
    require(pod.error().message.starts_with("pod"), "a refusal says what cannot be read");
    const auto part = codec::decodePartOfBoundPod(input);
    if (part)
      require(part->bound() && part->shape.requests.gpus() >= 0, "a part of a pod counts on its node");
    return;
  }
  require(pod->shape.requests.gpus() >= 0, "a pod asks for no less than nothing");
  const std::string patch = codec::encodeReleasePatch(pod->uid, pod->shape, model::NodeName("n1"));
  require(codec::JsonDocument::parse(patch).has_value(), "the patch that releases a pod is JSON");
}

}  // namespace trainyard::fuzz
