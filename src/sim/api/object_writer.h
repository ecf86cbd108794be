#pragma once

// Internal to src/sim: requests that create and change objects.

#include <functional>
#include <string>

#include "sim/api/body_decoder.h"
#include "sim/api/request_info.h"
#include "sim/api/server_state.h"

namespace trainyard::sim {

// Creates and changes objects by the rules of their types.
class ObjectWriter {
 public:
  // The arguments must outlive the writer.
  ObjectWriter(ServerState& state, const BodyDecoder& bodies) : state_(state), bodies_(bodies) {}

  [[nodiscard]] Outcome<Answer> create(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> replace(const RequestInfo& info);

  using Change = std::function<Outcome<Json>(const Json& old)>;
  // Reads, changes, validates and stores one object. `change` gets and returns the form of info.type.
  [[nodiscard]] Outcome<Answer> update(const RequestInfo& info, const std::string& expectedUid,
                                       const Change& change);

 private:
  [[nodiscard]] Outcome<Answer> createObject(const RequestInfo& info, Json object);
  [[nodiscard]] Outcome<void> namespaceAllows(const RequestInfo& info, const std::string& name) const;

  ServerState& state_;
  const BodyDecoder& bodies_;
};

}  // namespace trainyard::sim
