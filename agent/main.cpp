#include <map>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "agent/process.h"
#include "net/end_process.h"

int main(int argc, char** argv) {
  using trainyard::core::BandPolicy;
  const std::map<std::string, BandPolicy> policies{
      {"one", BandPolicy::kOne}, {"rr", BandPolicy::kRoundRobin}, {"bursts", BandPolicy::kBursts}};
  trainyard::agent::ProcessOptions options;
  std::string logLevel = "info";
  std::string logFormat = "json";
  std::string policy = "bursts";
  int turn = static_cast<int>(options.turn.count());
  int others = options.othersPermille / 10;

  CLI::App app{"Trainyard's node agent: orders the traffic of jobs that share this node's uplink."};
  app.set_version_flag("--version", std::string("trainyard-agent ") + TRAINYARD_VERSION);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "kubeconfig file; without it $KUBECONFIG, then the pod's service account");
  app.add_option("--node", options.node, "name of this node; only its pods are watched")
      ->envname("NODE_NAME");
  app.add_option("--device", options.device, "the uplink; without it that of the default route");
  app.add_option("--rate", options.rate,
                 "its rate, such as 25gbit; without it the rate that the device reports");
  app.add_option("--policy", policy,
                 "one: oldest job first. rr: by turns. bursts: shortest burst first, and whether that pays")
      ->check(CLI::IsMember(policies))
      ->capture_default_str();
  app.add_option("--turn", turn, "seconds that a turn takes")
      ->check(CLI::Range(1, 3'600))
      ->capture_default_str();
  app.add_option("--others", others, "percent of the link that is guaranteed to all other traffic")
      ->check(CLI::Range(1, 90))
      ->capture_default_str();
  app.add_flag("--remove", options.removeOnly, "remove what an agent left behind on the device, and exit");
  app.add_option("--metrics-listen", options.metrics.listen,
                 "address and port of /metrics, /healthz and /readyz, by plain HTTP");
  app.add_flag("--metrics-secure", options.metrics.secure,
               "serve these by HTTPS, and /metrics only with a token that the API server allows to get it");
  app.add_option("--metrics-tls-cert", options.metrics.tls.certificate,
                 "with it: its certificate chain, PEM; without files one is made at the start");
  app.add_option("--metrics-tls-key", options.metrics.tls.privateKey, "with it: its private key, PEM");
  app.add_option("--log-level", logLevel, "debug, info, warning or error")->capture_default_str();
  app.add_option("--log-format", logFormat, "json, or text for people")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  const auto level = trainyard::base::parseLogLevel(logLevel);
  const auto format = trainyard::base::parseLogFormat(logFormat);
  if (!level || !format) {
    fmt::print(stderr, "trainyard-agent: {}\n", level ? format.error().message : level.error().message);
    return 2;
  }
  if (options.node.empty() && !options.removeOnly) {
    fmt::print(stderr, "trainyard-agent: --node or NODE_NAME is required\n");
    return 2;
  }
  options.logLevel = *level;
  options.logFormat = *format;
  options.policy = policies.at(policy);
  options.turn = std::chrono::seconds(turn);
  options.othersPermille = others * 10;
  trainyard::net::endProcess(trainyard::agent::runProcess(options));
}
