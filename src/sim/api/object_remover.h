#pragma once

// Internal to src/sim: requests that delete objects.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sim/api/body_decoder.h"
#include "sim/api/object_reader.h"
#include "sim/api/request_info.h"
#include "sim/api/server_state.h"

namespace trainyard::sim {

struct DeleteOptions {
  std::optional<std::int64_t> grace;
  std::string uid;
  std::string version;
  std::string propagation;  // "", Background, Foreground, Orphan
  bool dryRun = false;
  bool cascadeAsked = false;  // the old form: orphanDependents: false
};

// Deletes objects, or marks them as being deleted.
class ObjectRemover {
 public:
  // The arguments must outlive the remover.
  ObjectRemover(ServerState& state, const BodyDecoder& bodies, const ObjectReader& reader)
      : state_(state), bodies_(bodies), reader_(reader) {}

  [[nodiscard]] Outcome<Answer> remove(const RequestInfo& info);
  [[nodiscard]] Outcome<Answer> removeCollection(const RequestInfo& info);
  // Returns true if the object is gone at once, with its last or present state.
  [[nodiscard]] Outcome<std::pair<bool, ObjectPtr>> removeObject(const ResourceType& type,
                                                                 const ObjectKey& key,
                                                                 const DeleteOptions& options);

 private:
  [[nodiscard]] Outcome<DeleteOptions> deleteOptions(const RequestInfo& info) const;
  [[nodiscard]] std::pair<bool, ObjectPtr> removeNamespace(const ResourceType& type, const ObjectKey& key,
                                                           Json object, const DeleteOptions& options);

  ServerState& state_;
  const BodyDecoder& bodies_;
  const ObjectReader& reader_;
};

}  // namespace trainyard::sim
