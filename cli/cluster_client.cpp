#include "cli/cluster_client.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/plain_text.h"
#include "kube/cluster_cache.h"
#include "kube/each_cache.h"
#include "kube/paths.h"
#include "kube/reflector.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::seconds kRequestTimeout{5};
constexpr std::chrono::seconds kThinking{30};
constexpr std::chrono::hours kSilence{1};  // of a log
// Beyond the request's own time: a credential plug-in may first ask the user for input.
constexpr std::chrono::seconds kPatience{60};

using Answer = base::Result<std::string>;

constexpr std::chrono::milliseconds kLook{10};

// Lives on the loop; calls `done` once.
class ClusterReading {
 public:
  using Done = std::function<void(base::Result<model::Snapshot>)>;

  ClusterReading(kube::ApiClient& api, base::Executor& executor, const base::Logger& log, Done done)
      : executor_(executor), cache_(log), done_(std::move(done)), end_(executor.now() + kPatience) {
    base::Rng rng(base::entropySeed());
    kube::forEachCache(cache_, [&](const kube::ResourceType& type, kube::ReflectorSink& sink) {
      reflectors_.push_back(std::make_unique<kube::Reflector>(kube::ReflectorOptions{.type = type}, api,
                                                              executor, rng.split(), log, sink));
      reflectors_.back()->start();
    });
    look();
  }
  ~ClusterReading() { executor_.cancel(timer_); }
  ClusterReading(const ClusterReading&) = delete;
  ClusterReading& operator=(const ClusterReading&) = delete;

 private:
  void look() {
    const bool synced = std::all_of(reflectors_.begin(), reflectors_.end(),
                                    [](const auto& reflector) { return reflector->synced(); });
    if (synced) {
      for (const std::string& each : cache_.undecodableNames())
        fmt::print(stderr, "trainyard: cannot be read: {}\n", plainText(each, false));
      return done_(cache_.snapshot(executor_.wallNow()));
    }
    if (executor_.now() >= end_) {
      return done_(base::fail(base::ErrorCode::kUnavailable,
                              fmt::format("the cluster could not be read within {} s", kPatience.count())));
    }
    timer_ = executor_.postAfter(kLook, [this] { look(); });
  }

  base::Executor& executor_;
  kube::ClusterCache cache_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  Done done_;
  base::Instant end_;
  base::TimerId timer_{};
};

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing sets variables
  return value == nullptr ? "" : value;
}

base::Result<kube::ConnectionConfig> configOf(const ConnectFlags& flags) {
  auto config = kube::loadConnectionConfig(
      {.kubeconfig = flags.kubeconfig.empty() ? std::nullopt : std::optional(flags.kubeconfig),
       .context = flags.context});
  if (!config) return config;
  if (!flags.as.empty()) config->headers.emplace_back("Impersonate-User", flags.as);
  if (flags.token.empty()) return config;
  if (flags.token.find_first_of("\r\n ") != std::string::npos)
    return base::fail(base::ErrorCode::kInvalid, "--token: is not a bearer token");
  config->authorization = "Bearer " + flags.token;
  config->tokenFile.clear();
  config->exec.reset();
  // The API server prefers a client certificate to a token.
  config->tls.certificatePem.clear();
  config->tls.privateKeyPem.clear();
  config->tlsFiles.certificate.clear();
  config->tlsFiles.privateKey.clear();
  return config;
}

}  // namespace

ClusterClient::ClusterClient(kube::ConnectionConfig config)
    : config_(std::move(config)), timeout_(kRequestTimeout), patience_(kPatience) {}

void ClusterClient::hurry(std::chrono::milliseconds deadline) { timeout_ = patience_ = deadline; }

base::Result<std::unique_ptr<ClusterClient>> ClusterClient::connect(const ConnectFlags& flags) {
  auto config = configOf(flags);
  if (!config) return base::fail(config.error());
  return connectTo(std::move(*config));
}

base::Result<std::unique_ptr<ClusterClient>> ClusterClient::connectConsole(const ConnectFlags& flags,
                                                                           const ConsoleFlags& console) {
  const auto user = configOf(flags);
  if (!user) return base::fail(user.error());
  auto config = consoleConfig(*user, console, environment);
  if (!config) return base::fail(config.error());
  auto client = connectTo(std::move(*config));
  if (client) {
    (*client)->repeats_ = true;
    (*client)->timeout_ = kThinking;
  }
  return client;
}

base::Result<std::unique_ptr<ClusterClient>> ClusterClient::connectTo(kube::ConnectionConfig config) {
  std::unique_ptr<ClusterClient> client(new ClusterClient(std::move(config)));
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
  stopFollowing();
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
  std::vector<kube::ApiRequest> requests;
  for (const std::string& path : paths) requests.push_back({.path = path});
  return ask(requests);
}

base::Result<std::string> ClusterClient::read(const std::string& path, const kube::Query& query) {
  return ask({{.path = path, .query = query}}).front();
}

void ClusterClient::follow(const std::string& path, const kube::Query& query,
                           std::function<void(std::string line)> lines,
                           std::function<void(base::Result<void>)> end) {
  onLoop([&] {
    followed_.push_back(connection_->api().watch({.path = path, .query = query, .timeout = kSilence},
                                                 std::move(lines), std::move(end)));
  });
}

void ClusterClient::stopFollowing() {
  onLoop([this] { followed_.clear(); });
}

base::Result<std::string> ClusterClient::post(const std::string& path, const std::string& body,
                                              const kube::Query& query) {
  return ask({{.method = net::Method::kPost, .path = path, .query = query, .body = body}}).front();
}

base::Result<std::string> ClusterClient::patch(const std::string& path, const std::string& body) {
  return ask({{.method = net::Method::kPatch,
               .path = path,
               .body = body,
               .contentType = std::string(kube::contentTypeOf(kube::PatchType::kMerge))}})
      .front();
}

std::vector<base::Result<std::string>> ClusterClient::ask(std::vector<kube::ApiRequest> requests) {
  std::vector<std::future<Answer>> pending;
  onLoop([&] {
    for (kube::ApiRequest& request : requests) {
      request.timeout = timeout_;
      auto promise = std::make_shared<std::promise<Answer>>();
      pending.push_back(promise->get_future());
      // The API client without retries: a user at a terminal needs an
      // answer now, and can repeat the command by hand.
      kube::ApiClient& api = repeats_ ? connection_->api() : connection_->leaseApi();
      api.request(request, [promise](base::Result<kube::ApiResponse> response) {
        promise->set_value(
            std::move(response).map([](kube::ApiResponse&& answer) { return std::move(answer.body); }));
      });
    }
  });
  std::vector<Answer> answers;
  for (std::future<Answer>& each : pending) {
    if (each.wait_for(patience_) == std::future_status::ready) {
      answers.push_back(each.get());
    } else {
      answers.push_back(base::fail(base::ErrorCode::kUnavailable,
                                   fmt::format("{} did not answer within {} s", config_.server,
                                               std::chrono::ceil<std::chrono::seconds>(patience_).count())));
    }
  }
  return answers;
}

// Reads through the operator's own reflectors, which retry forever. One object of each type is therefore
// requested first, so that a user without the permission gets an error at once.
base::Result<model::Snapshot> ClusterClient::snapshot() {
  const base::Logger log(silence_, base::LogLevel::kError, "cli");
  std::vector<kube::ApiRequest> samples;
  kube::forEachCache(kube::ClusterCache(log), [&](const kube::ResourceType& type, const auto&) {
    samples.push_back({.path = type.collection(), .query = {{"limit", "1"}}});
  });
  for (const Answer& answer : ask(samples)) {
    if (answer) continue;
    const bool forbidden = answer.error().code == base::ErrorCode::kForbidden;
    return base::fail(answer.error().code,
                      answer.error().message + (forbidden ? "; this reads all nodes, pods and jobs, which "
                                                            "the ClusterRole trainyard-cluster-viewer allows"
                                                          : ""));
  }
  std::promise<base::Result<model::Snapshot>> promise;
  auto result = promise.get_future();
  std::unique_ptr<ClusterReading> reading;
  onLoop([&] {
    reading = std::make_unique<ClusterReading>(connection_->api(), loop_, log,
                                               [&](auto read) { promise.set_value(std::move(read)); });
  });
  auto snapshot = result.get();
  onLoop([&] { reading.reset(); });
  return snapshot;
}

}  // namespace trainyard::cli
