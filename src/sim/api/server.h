#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "net/http.h"

namespace trainyard::sim {

class Registry;     // the resource types of a server
struct StoreEvent;  // one committed write

struct ApiServerOptions {
  std::vector<std::string> crds = {};  // CustomResourceDefinitions, YAML
  // Replaces `crds`, parsed earlier by readTypes(): parsing takes longer than a short simulation.
  std::shared_ptr<const Registry> types = nullptr;
  std::uint64_t seed = 1;             // of uids and generated names
  std::size_t historyLimit = 20'000;  // writes that a watch may lag behind before it gets 410
};

// The callbacks of a watch. The server calls `onLine` with one JSON document per event, possibly before
// openWatch() returns, and `onClosed` when it ends the watch itself.
struct WatchSink {
  std::function<void(std::string line)> onLine;
  std::function<void()> onClosed;
};

struct WatchTicket {
  std::uint64_t id = 0;
  // The timeout in the request, if any. The caller closes the watch then, because the server has no timer of
  // its own.
  std::optional<std::chrono::seconds> timeout = std::nullopt;
};

// A Kubernetes API server in memory, as far as training jobs need it: pods, services, configmaps, nodes,
// namespaces, events, leases, priorityclasses, serviceaccounts, limitranges, resourcequotas and custom
// resources. e2e/conformance compares it with a real one. It is single-threaded and deterministic: `clock` is
// its only time, and the seed its only randomness. Not supported: authentication, apply patches, CEL,
// conversion, protobuf.
class ApiServer {
 public:
  using Clock = std::function<base::WallTime()>;

  // Parses the built-in types and those of the CRDs, for any number of servers on one thread.
  [[nodiscard]] static base::Result<std::shared_ptr<const Registry>> readTypes(
      const std::vector<std::string>& crds);
  // kInvalid names an invalid CRD.
  [[nodiscard]] static base::Result<std::unique_ptr<ApiServer>> create(const ApiServerOptions& options,
                                                                       Clock clock);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Handles any request except a watch.
  [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request);

  [[nodiscard]] static bool isWatch(const net::HttpRequest& request);
  // Returns the answer to a refused watch, or the ticket that closes the watch.
  [[nodiscard]] tl::expected<WatchTicket, net::HttpResponse> openWatch(const net::HttpRequest& request,
                                                                       WatchSink sink);
  // No callback runs afterwards. Does nothing for a watch that has ended.
  void closeWatch(std::uint64_t id);
  // Sends one bookmark to every watch that requested bookmarks.
  void sendBookmarks();
  // Sends one bookmark to this watch, if it requested them: a real server does so shortly before a watch
  // times out.
  void sendBookmark(std::uint64_t id);
  // Ends every watch, as a restart of the server does.
  void endWatches();

  // Drops the history: open watches continue; new ones from an old version and page tokens get 410.
  void compact();
  [[nodiscard]] std::uint64_t resourceVersion() const;

  // Called after every write, from within handle().
  void setChangeListener(std::function<void(const StoreEvent&)> listener);

  struct Impl;
  // For the controllers of this library.
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::sim
