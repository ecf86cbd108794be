#include "fuzz/targets.h"

#include <array>

namespace trainyard::fuzz {

std::span<const Target> allTargets() {
  static constexpr std::array kTargets = {
      Target{"base64", base64},
      Target{"execCredential", execCredential},
      Target{"extenderArgs", extenderArgs},
      Target{"failureCases", failureCases},
      Target{"failureLog", failureLog},
      Target{"indexSet", indexSet},
      Target{"job", job},
      Target{"kubeconfig", kubeconfig},
      Target{"lease", lease},
      Target{"lines", lines},
      Target{"list", list},
      Target{"listenAddress", listenAddress},
      Target{"modelProfile", modelProfile},
      Target{"node", node},
      Target{"pod", pod},
      Target{"policy", policy},
      Target{"progressReport", progressReport},
      Target{"quantity", quantity},
      Target{"queue", queue},
      Target{"runTimes", runTimes},
      Target{"scenario", scenario},
      Target{"selector", selector},
      Target{"status", status},
      Target{"strategicMerge", strategicMerge},
      Target{"target", target},
      Target{"time", time},
      Target{"watchEvent", watchEvent},
      Target{"yaml", yaml},
  };
  return kTargets;
}

}  // namespace trainyard::fuzz
