#pragma once

// Internal to src/sim: requests that patch objects.

#include "sim/api/body_decoder.h"
#include "sim/api/object_writer.h"
#include "sim/api/request_info.h"

namespace trainyard::sim {

// Applies the patch, of the request's content type, to a document.
[[nodiscard]] Outcome<Json> applyPatch(const RequestInfo& info, const Json& old, const Json& patchBody);

// Patches objects.
class ObjectPatcher {
 public:
  // The arguments must outlive the patcher.
  ObjectPatcher(ObjectWriter& writer, const BodyDecoder& bodies) : writer_(writer), bodies_(bodies) {}

  [[nodiscard]] Outcome<Answer> patch(const RequestInfo& info);

 private:
  ObjectWriter& writer_;
  const BodyDecoder& bodies_;
};

}  // namespace trainyard::sim
