#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "cli/console_config.h"
#include "cli/live_cluster.h"
#include "kube/config.h"
#include "kube/connection.h"

namespace trainyard::cli {

struct ConnectFlags {
  std::string kubeconfig = {};  // empty: $KUBECONFIG, ~/.kube/config
  std::string context = {};     // empty: the current one
  std::string as = {};          // whom to act as; empty: oneself
  std::string token = {};       // bearer token in place of what the kubeconfig has
};

// Short questions to the API server by somebody who waits: no repeats, and an answer or an error within
// seconds.
class ClusterClient final : public LiveCluster {
 public:
  // kInvalid names the file and key of a kubeconfig that cannot be used. Does not talk to the server yet.
  [[nodiscard]] static base::Result<std::unique_ptr<ClusterClient>> connect(const ConnectFlags& flags);
  // The operator's console, asked by the same user: for post() alone. It may be busy and may have to think,
  // so it is asked again and given time.
  [[nodiscard]] static base::Result<std::unique_ptr<ClusterClient>> connectConsole(
      const ConnectFlags& flags, const ConsoleFlags& console);
  ~ClusterClient() override;
  // From now on an answer has no longer than this, whatever a credential plug-in takes.
  void hurry(std::chrono::milliseconds deadline);

  [[nodiscard]] std::vector<base::Result<std::string>> get(const std::vector<std::string>& paths) override;
  [[nodiscard]] base::Result<std::string> post(const std::string& path, const std::string& body,
                                               const kube::Query& query) override;
  // The body of one answer, of whatever type.
  [[nodiscard]] base::Result<std::string> read(const std::string& path, const kube::Query& query);
  // The lines of an answer without end, as they come; `end` once, last. Both on a thread of the client's.
  void follow(const std::string& path, const kube::Query& query, std::function<void(std::string line)> lines,
              std::function<void(base::Result<void>)> end);
  // Ends all that is followed: no callback runs after that.
  void stopFollowing();
  // A JSON merge patch of one object.
  [[nodiscard]] base::Result<std::string> patch(const std::string& path, const std::string& body);
  [[nodiscard]] base::Result<model::Snapshot> snapshot() override;

  [[nodiscard]] const std::string& source() const override { return config_.source; }
  [[nodiscard]] const std::string& ns() const override { return config_.ns; }
  [[nodiscard]] base::WallTime now() const override { return loop_.wallNow(); }

 private:
  class Silence final : public base::LogSink {
   public:
    void write(std::string_view) override {}
  };

  explicit ClusterClient(kube::ConnectionConfig config);
  [[nodiscard]] static base::Result<std::unique_ptr<ClusterClient>> connectTo(kube::ConnectionConfig config);
  [[nodiscard]] std::vector<base::Result<std::string>> ask(std::vector<kube::ApiRequest> requests);
  // Runs `task` on the loop and waits for it.
  void onLoop(const base::Task& task);

  kube::ConnectionConfig config_;
  bool repeats_ = false;
  std::chrono::milliseconds timeout_;   // of a request
  std::chrono::milliseconds patience_;  // beyond it
  Silence silence_;
  base::EventLoop loop_;
  std::unique_ptr<kube::ApiConnection> connection_;
  std::vector<std::unique_ptr<net::StreamHandle>> followed_;  // the loop's
  std::thread thread_;
};

}  // namespace trainyard::cli
