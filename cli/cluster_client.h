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
  std::string as = {};          // user to impersonate; empty: none
  std::string token = {};       // bearer token, replaces the kubeconfig's credentials
};

// Sends short requests to the API server for a user at a terminal: without retries,
// and with an answer or an error within seconds.
class ClusterClient final : public LiveCluster {
 public:
  // kInvalid names the file and key of an unusable kubeconfig. Does not connect to the server yet.
  [[nodiscard]] static base::Result<std::unique_ptr<ClusterClient>> connect(const ConnectFlags& flags);
  // Connects to the operator's console as the same user, for post() only. The console may be busy or need
  // time to compute, so requests are repeated and have a longer timeout.
  [[nodiscard]] static base::Result<std::unique_ptr<ClusterClient>> connectConsole(
      const ConnectFlags& flags, const ConsoleFlags& console);
  ~ClusterClient() override;
  // Limits all later requests to this time, including that of a credential plug-in.
  void hurry(std::chrono::milliseconds deadline);

  [[nodiscard]] std::vector<base::Result<std::string>> get(const std::vector<std::string>& paths) override;
  [[nodiscard]] base::Result<std::string> post(const std::string& path, const std::string& body,
                                               const kube::Query& query) override;
  // Returns the body of one answer, of any content type.
  [[nodiscard]] base::Result<std::string> read(const std::string& path, const kube::Query& query);
  // Streams the lines of an answer without end; calls `end` once, last. Both run on the client's own thread.
  void follow(const std::string& path, const kube::Query& query, std::function<void(std::string line)> lines,
              std::function<void(base::Result<void>)> end);
  // Ends all streams: no callback runs afterwards.
  void stopFollowing();
  // Applies a JSON merge patch to one object.
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
  std::vector<std::unique_ptr<net::StreamHandle>> followed_;  // only used on the loop
  std::thread thread_;
};

}  // namespace trainyard::cli
