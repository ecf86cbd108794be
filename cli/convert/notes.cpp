#include "cli/convert/notes.h"

namespace trainyard::cli {

std::string_view toString(Severity severity) {
  switch (severity) {
    case Severity::kKept: return "kept";
    case Severity::kChanged: return "changed";
    case Severity::kLost: return "lost";
    case Severity::kCannotWork: return "cannot work";
  }
  return "lost";
}

int exitStatusOf(Severity worst) {
  constexpr int kDiffers = 3;
  constexpr int kBroken = 4;
  switch (worst) {
    case Severity::kKept: return 0;
    case Severity::kChanged:
    case Severity::kLost: return kDiffers;
    case Severity::kCannotWork: return kBroken;
  }
  return kBroken;
}

}  // namespace trainyard::cli
