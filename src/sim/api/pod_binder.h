#pragma once

// Internal to src/sim: pods/binding.

#include "sim/api/body_decoder.h"
#include "sim/api/request_info.h"
#include "sim/api/server_state.h"

namespace trainyard::sim {

// Assigns pods to nodes.
class PodBinder {
 public:
  // The arguments must outlive the binder.
  PodBinder(ServerState& state, const BodyDecoder& bodies) : state_(state), bodies_(bodies) {}

  [[nodiscard]] Outcome<Answer> bind(const RequestInfo& info);

 private:
  ServerState& state_;
  const BodyDecoder& bodies_;
};

}  // namespace trainyard::sim
