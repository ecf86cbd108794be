#pragma once

// Internal to src/sim: what the parts of the API server share.

#include <functional>
#include <memory>
#include <string>

#include "base/rng.h"
#include "base/time.h"
#include "sim/api/registry.h"
#include "sim/api/store.h"

namespace trainyard::sim {

// The objects of a server, with its time and its randomness.
struct ServerState {
  std::function<base::WallTime()> clock;
  base::Rng rng;
  std::shared_ptr<const Registry> registry;
  ApiStore store;

  [[nodiscard]] AdmissionView view();
  [[nodiscard]] std::string newUid();
  // Returns the end of a generated name.
  [[nodiscard]] std::string randomSuffix();
};

// Stores the namespaces, service accounts and priority classes of a new cluster.
void installDefaults(ServerState& state);

}  // namespace trainyard::sim
