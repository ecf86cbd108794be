#pragma once

// Internal to src/sim: the subresource scale of custom resources.

#include "sim/api/body_decoder.h"
#include "sim/api/object_writer.h"
#include "sim/api/request_info.h"

namespace trainyard::sim {

// Returns the Scale of an object; 500 for an object that has no replica count.
[[nodiscard]] Outcome<Json> readScale(const ResourceType& type, const Json& object);

// Changes replica counts.
class ScaleWriter {
 public:
  // The arguments must outlive the writer.
  ScaleWriter(ObjectWriter& writer, const BodyDecoder& bodies) : writer_(writer), bodies_(bodies) {}

  // Replaces or patches the Scale of an object.
  [[nodiscard]] Outcome<Answer> write(const RequestInfo& info);

 private:
  ObjectWriter& writer_;
  const BodyDecoder& bodies_;
};

}  // namespace trainyard::sim
