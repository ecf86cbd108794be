#include "cli/cluster_client.h"

#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

constexpr std::chrono::seconds kRequestTimeout{5};
// Beyond the request's own: a credential plug-in may ask the user something first.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

ClusterClient::ClusterClient(kube::ConnectionConfig config) : config_(std::move(config)) {}

base::Result<std::unique_ptr<ClusterClient>> ClusterClient::connect(const ConnectFlags& flags) {
  auto config = kube::loadConnectionConfig(
      {.kubeconfig = flags.kubeconfig.empty() ? std::nullopt : std::optional(flags.kubeconfig),
       .context = flags.context});
  if (!config) return base::fail(config.error());
  std::unique_ptr<ClusterClient> client(new ClusterClient(std::move(*config)));
  auto connection = kube::makeApiClient(client->config_, client->loop_, base::Rng(base::entropySeed()),
                                        base::Logger(client->silence_, base::LogLevel::kError, "cli"),
                                        {.userAgent = "trainyard/" TRAINYARD_VERSION});
  if (!connection) return base::fail(connection.error());
  client->connection_ = std::move(*connection);
  client->thread_ = std::thread([loop = &client->loop_] { loop->run(); });
  return client;
}

ClusterClient::~ClusterClient() {
  if (!thread_.joinable()) return;
  onLoop([this] { connection_.reset(); });
  loop_.stop();
  thread_.join();
}

void ClusterClient::onLoop(const base::Task& task) {
  std::promise<void> done;
  loop_.post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

std::vector<base::Result<std::string>> ClusterClient::get(const std::vector<std::string>& paths) {
  using Answer = base::Result<std::string>;
  std::vector<std::future<Answer>> pending;
  onLoop([&] {
    for (const std::string& path : paths) {
      auto promise = std::make_shared<std::promise<Answer>>();
      pending.push_back(promise->get_future());
      // The client that does not repeat: whoever waits at a terminal wants to know now, and can repeat by
      // hand.
      connection_->leaseApi().request(
          {.path = path, .timeout = kRequestTimeout}, [promise](base::Result<kube::ApiResponse> response) {
            promise->set_value(
                std::move(response).map([](kube::ApiResponse&& answer) { return std::move(answer.body); }));
          });
    }
  });
  std::vector<Answer> answers;
  for (std::future<Answer>& each : pending) {
    if (each.wait_for(kPatience) == std::future_status::ready) {
      answers.push_back(each.get());
    } else {
      answers.push_back(
          base::fail(base::ErrorCode::kUnavailable,
                     fmt::format("{} did not answer within {} s", config_.server, kPatience.count())));
    }
  }
  return answers;
}

}  // namespace trainyard::cli
