#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "extender/process.h"
#include "net/end_process.h"

int main(int argc, char** argv) {
  trainyard::extender::ProcessOptions options;
  std::string logLevel = "info";
  std::string logFormat = "json";

  CLI::App app{
      "Trainyard's kube-scheduler extender: keeps other pods off capacity that is reserved for gangs."};
  app.set_version_flag("--version", std::string("trainyard-extender ") + TRAINYARD_VERSION);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "kubeconfig file; without it $KUBECONFIG, then the pod's service account");
  app.add_option("--listen", options.listen, "address and port that kube-scheduler calls, by HTTPS")
      ->required();
  app.add_option("--tls-cert", options.tls.certificate, "certificate chain of this server, PEM")->required();
  app.add_option("--tls-key", options.tls.privateKey, "its private key, PEM")->required();
  app.add_option("--client-ca", options.tls.clientCa, "CA that client certificates must be signed by, PEM")
      ->required();
  app.add_option(
      "--client-name", options.clientName,
      "the common name that a client certificate must have; without it any that the CA has signed");
  app.add_option("--metrics-listen", options.metricsListen,
                 "address and port of /metrics, /healthz and /readyz, by plain HTTP");
  app.add_flag("--metrics-secure", options.metricsSecure,
               "serve these by HTTPS, with the same certificate, and /metrics only with a token that the API "
               "server allows to get it");
  app.add_option("--policy", options.policyFile,
                 "the cluster's policy, a YAML file; only gpuResources and deviceClasses count here, and "
                 "only at the start");
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
    fmt::print(stderr, "trainyard-extender: {}\n", level ? format.error().message : level.error().message);
    return 2;
  }
  options.logLevel = *level;
  options.logFormat = *format;
  trainyard::net::endProcess(trainyard::extender::runProcess(options));
}
