#include "codec/unsupported.h"

#include <fmt/format.h>

namespace trainyard::codec {
namespace {

// How the job is to be asked for its state, where nobody can ask it yet; else empty.
std::string_view unbuiltMode(const model::JobSpec& spec) {
  using enum model::CheckpointMode;
  if (!spec.checkpoint) return {};
  switch (spec.checkpoint->mode) {
    case kHttp: return "HTTP";
    case kLauncher:
    case kHelper:
    case kSignal:
    case kNone: return {};
  }
  return {};
}

}  // namespace

std::vector<std::string> findUnsupported(const model::JobSpec& decoded) {
  std::vector<std::string> found;
  const auto add = [&](bool asked, std::string_view what) {
    if (asked) found.emplace_back(what);
  };
  if (const std::string_view mode = unbuiltMode(decoded); !mode.empty()) {
    found.push_back(
        fmt::format("spec.checkpoint.mode {} (nobody asks the job to save its state; when it is "
                    "stopped, its processes get SIGTERM)",
                    mode));
  }
  add(decoded.minAvailable && *decoded.minAvailable < decoded.totalReplicas(), "spec.gang.minAvailable");
  return found;
}

}  // namespace trainyard::codec
