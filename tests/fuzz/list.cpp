#include "codec/list.h"

#include "codec/object_meta.h"
#include "fuzz/targets.h"

namespace trainyard::fuzz {

void list(std::string_view input) {
  const auto list = codec::decodeList(std::string(input));
  if (!list) return require(!list.error().message.empty(), "a refusal says why");
  require(!list->resourceVersion.empty(), "a list has a version to watch from");
  for (const std::string& item : list->items) {
    require(looksLikeObject(item), "an item is the text of an object");
    if (const auto meta = codec::decodeObjectMeta(item)) require(!meta->name.empty(), "an object has a name");
  }
}

}  // namespace trainyard::fuzz
