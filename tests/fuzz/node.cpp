#include "codec/node.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

void node(std::string_view input) {
  const auto node = codec::decodeNode(input);
  if (!node) {
    require(node.error().message.starts_with("node"), "a refusal says what cannot be read");
    const auto part = codec::decodePartOfNode(input);
    if (part) require(!part->takesPods(), "a part of a node takes no pods");
    return;
  }
  require(!node->name.empty(), "a node has a name");
  require(node->allocatable.gpus() >= 0, "a node offers no less than nothing");
}

}  // namespace trainyard::fuzz
