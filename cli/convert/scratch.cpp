#include "cli/convert/scratch.h"

#include <set>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

bool isPassing(const std::string& path) {
  return path.starts_with("/dev/") || path == "/tmp" || path.starts_with("/tmp/") ||
         path.starts_with("/var/");
}

std::set<std::string> mountedBy(const Json& containers, bool passingToo) {
  std::set<std::string> names;
  for (const Json& container : listOf(containers)) {
    for (const Json& mount : listOf(get(container, "volumeMounts"))) {
      if (passingToo || !isPassing(textOf(get(mount, "mountPath")))) names.insert(textOf(get(mount, "name")));
    }
  }
  return names;
}

}  // namespace

void noteScratch(const RoleDraft& role, JobDraft& draft) {
  const Json spec = get(role.pod, "spec");
  const std::set<std::string> filled = mountedBy(get(spec, "initContainers"), true);
  const std::set<std::string> used = mountedBy(get(spec, "containers"), false);
  for (const Json& volume : listOf(get(spec, "volumes"))) {
    const std::string name = textOf(get(volume, "name"));
    const Json kind = get(volume, "emptyDir");
    if (kind.is_null() || textOf(get(kind, "medium")) == "Memory") continue;
    if (!used.contains(name) || filled.contains(name)) continue;
    draft.notes().changed(fmt::format(
        "role {}: volume {}: emptyDir: {} starts a failed container again in its pod, which keeps it; "
        "here a new pod starts, with an empty one: keep checkpoints elsewhere",
        role.name, name, draft.facts().system));
  }
}

}  // namespace trainyard::cli
