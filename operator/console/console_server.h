#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "core/gang/settings.h"
#include "kube/config.h"
#include "model/snapshot.h"

namespace trainyard::operator_::console {

struct ConsoleOptions {
  std::string listen = {};       // empty: there is no console
  std::string certificate = {};  // PEM files; without them the address must be a loopback one
  std::string privateKey = {};
};

// Runs the console in its own threads, so that its clients take no time of the operator's loop. One thread
// handles requests and reviews; one of low priority computes what-ifs. Its connections to the API server and
// their rate limit are its own.
class ConsoleServer {
 public:
  // Callable on any thread; passes the snapshot to the function later, on any thread.
  using Source = std::function<void(std::function<void(std::optional<model::Snapshot>)>)>;

  // kInvalid names the option that cannot be used.
  [[nodiscard]] static base::Result<std::unique_ptr<ConsoleServer>> start(
      const ConsoleOptions& options, const kube::ConnectionConfig& config, const core::Settings& settings,
      Source source, const base::Logger& log);
  ConsoleServer() = default;
  ConsoleServer(const ConsoleServer&) = delete;
  ConsoleServer& operator=(const ConsoleServer&) = delete;
  virtual ~ConsoleServer() = default;
};

}  // namespace trainyard::operator_::console
