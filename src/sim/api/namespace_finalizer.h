#pragma once

// Internal to src/sim: namespaces/finalize.

#include "sim/api/body_decoder.h"
#include "sim/api/request_info.h"
#include "sim/api/store.h"

namespace trainyard::sim {

// Changes the finalizers in the spec of a namespace.
class NamespaceFinalizer {
 public:
  // The arguments must outlive the object.
  NamespaceFinalizer(ApiStore& store, const BodyDecoder& bodies) : store_(store), bodies_(bodies) {}

  // Deletes the namespace if nothing else delays its deletion.
  [[nodiscard]] Outcome<Answer> finalize(const RequestInfo& info);

 private:
  ApiStore& store_;
  const BodyDecoder& bodies_;
};

}  // namespace trainyard::sim
