#include "cli/convert/placeholders.h"

#include <re2/re2.h>

namespace trainyard::cli {

std::string withPlainPlaceholders(std::string yaml) {
  static const re2::RE2 kNumber(
      R"re((?m)^(\s*(?:- )?(?:replicas|minReplicas|maxReplicas|parallelism|completions|size|numOfHosts|slotsPerWorker|minAvailable|maxRestarts|backoffLimit|ttlSecondsAfterFinished|activeDeadlineSeconds): )"(\$(?:\w+|\{[^"{}]+\}))"$)re");
  re2::RE2::GlobalReplace(&yaml, kNumber, R"(\1\2)");
  return yaml;
}

}  // namespace trainyard::cli
