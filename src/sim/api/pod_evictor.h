#pragma once

// Internal to src/sim: pods/eviction.

#include "sim/api/body_decoder.h"
#include "sim/api/object_remover.h"
#include "sim/api/request_info.h"
#include "sim/api/server_state.h"

namespace trainyard::sim {

// Evicts pods: marks them with the condition DisruptionTarget, and deletes them. No budget refuses one,
// because no controller counts disruptions.
class PodEvictor {
 public:
  // The arguments must outlive the evictor.
  PodEvictor(ServerState& state, const BodyDecoder& bodies, ObjectRemover& remover)
      : state_(state), bodies_(bodies), remover_(remover) {}

  [[nodiscard]] Outcome<Answer> evict(const RequestInfo& info);

 private:
  ServerState& state_;
  const BodyDecoder& bodies_;
  ObjectRemover& remover_;
};

}  // namespace trainyard::sim
