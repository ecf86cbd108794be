#include "codec/template_hash.h"

#include <fmt/format.h>

#include "codec/fnv128.h"

namespace trainyard::codec {
std::string templateHash(const Field& spec, const model::JobSpec& decoded) {
  Fnv128 hash;
  hash.add(spec["framework"].text());
  std::size_t index = 0;
  spec["roles"].forEachElement([&](const Field& element) {
    if (index >= decoded.roles.size()) return;
    const model::Role& role = decoded.roles[index++];
    hash.add(role.name);
    hash.add(fmt::to_string(decoded.startReplicas(role)));
    hash.add(element["template"].value().canonical());
  });
  // A member's time to end, where it is not the template's alone.
  if (decoded.checkpoint && decoded.checkpoint->mode == model::CheckpointMode::kSignal)
    hash.add(fmt::to_string(decoded.checkpoint->gracePeriod.count()));
  if (!decoded.priorityClassName.empty()) hash.add(decoded.priorityClassName);
  return hash.hex();
}

}  // namespace trainyard::codec
