#pragma once

// Internal to src/sim: the parts of ApiServer.

#include <functional>
#include <memory>

#include "sim/api/body_decoder.h"
#include "sim/api/namespace_finalizer.h"
#include "sim/api/object_patcher.h"
#include "sim/api/object_reader.h"
#include "sim/api/object_remover.h"
#include "sim/api/object_writer.h"
#include "sim/api/pod_binder.h"
#include "sim/api/pod_evictor.h"
#include "sim/api/scale.h"
#include "sim/api/server.h"
#include "sim/api/server_state.h"
#include "sim/api/watch.h"

namespace trainyard::sim {

// Routes each request to the part that answers it.
struct ApiServer::Impl {
  Impl(const ApiServerOptions& given, std::shared_ptr<const Registry> types, Clock clock);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] Outcome<Answer> route(const net::HttpRequest& request);

  ServerState state;
  WatchHub hub;
  BodyDecoder bodies;
  ObjectReader reader;
  ObjectWriter writer;
  ObjectPatcher patcher;
  ScaleWriter scales;
  PodBinder binder;
  NamespaceFinalizer namespaces;
  ObjectRemover remover;
  PodEvictor evictor;
  std::function<void(const StoreEvent&)> onChange;
};

}  // namespace trainyard::sim
