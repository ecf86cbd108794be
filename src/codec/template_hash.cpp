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
  // A member's grace period, if it does not follow from the template alone.
  using enum model::CheckpointMode;
  const auto mode = decoded.checkpoint ? decoded.checkpoint->mode : kNone;
  if (mode == kSignal || mode == kLauncher || mode == kHelper || mode == kHttp)
    hash.add(fmt::to_string(decoded.checkpoint->gracePeriod.count()));
  // Launcher changes the command; Launcher and Helper both add a volume.
  if (mode == kLauncher) hash.add("Launcher");
  if (mode == kHelper) hash.add("Helper");
  if (mode == kHttp)
    hash.add(fmt::format("HTTP {} {}", decoded.checkpoint->httpPort, decoded.checkpoint->httpPath));
  if (!decoded.priorityClassName.empty()) hash.add(decoded.priorityClassName);
  return hash.hex();
}

}  // namespace trainyard::codec
