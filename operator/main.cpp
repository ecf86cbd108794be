#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/rng.h"
#include "kube/leader_election.h"
#include "model/owner_kinds.h"
#include "net/end_process.h"
#include "operator/process.h"

namespace {

std::vector<std::string> workloadKindNames() {
  std::vector<std::string> names;
  for (const auto& kind : trainyard::model::kOwnerKinds) names.emplace_back(kind.kind);
  return names;
}

std::string defaultIdentity() {
  trainyard::base::Rng random(trainyard::base::entropySeed());
  return trainyard::kube::uniqueIdentity(random);
}

}  // namespace

int main(int argc, char** argv) {
  trainyard::operator_::ProcessOptions options;
  options.identity = defaultIdentity();
  std::string logLevel = "info";
  std::string logFormat = "json";
  std::string certificatesFor;
  int certificateDays = 90;
  bool endJobs = false;

  CLI::App app{"Trainyard's operator: places whole gangs of TrainingJobs, or nothing."};
  app.set_version_flag("--version", std::string("trainyard-operator ") + TRAINYARD_VERSION);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "kubeconfig file; without it $KUBECONFIG, then the pod's service account");
  app.add_option("--listen", options.metrics.listen, "address and port of /metrics, /healthz and /readyz")
      ->capture_default_str();
  app.add_flag("--metrics-secure", options.metrics.secure,
               "serve these by HTTPS, and /metrics only with a token that the API server allows to get it");
  app.add_option("--metrics-tls-cert", options.metrics.tls.certificate,
                 "with it: its certificate chain, PEM; while there are no such files, one made at the start");
  app.add_option("--metrics-tls-key", options.metrics.tls.privateKey, "with it: its private key, PEM");
  app.add_option("--namespace", options.leaseNamespace, "namespace of the leader-election Lease")
      ->capture_default_str();
  app.add_option("--identity", options.identity, "name of this replica in the Lease; must be unique");
  app.add_option("--workload-kinds", options.workloadKinds,
                 "kinds of other controllers whose gangs are placed, such as Job,JobSet,PyTorchJob")
      ->delimiter(',')
      ->check(CLI::IsMember(workloadKindNames()));
  app.add_flag("--kueue", options.kueue,
               "hold TrainingJobs with the label kueue.x-k8s.io/queue-name until Kueue has admitted them");
  app.add_option("--qps", options.qps, "API requests a second, at most; 0: no limit")->capture_default_str();
  app.add_option("--burst", options.burst, "API requests at once, at most")->capture_default_str();
  app.add_option(
      "--scheduler-name", options.schedulerName,
      "schedulerName of the pods, if another scheduler than the cluster's default one calls the extender");
  app.add_option(
      "--launcher-image", options.launcherImage,
      "image of trainyard-launch, for jobs with checkpoint.mode Launcher; without it these are refused");
  app.add_option(
      "--policy", options.policyFile,
      "the cluster's policy, a YAML file; read again when it changes. Without it the defaults apply");
  app.add_option(
      "--policy-configmap", options.policyConfigMap,
      "the ConfigMap in --namespace that holds this file: its Events report what is wrong with the file");
  app.add_option(
      "--console", options.console.listen,
      "address and port of the web console, a loopback one unless it has a certificate; without it "
      "there is none");
  app.add_option("--console-tls-cert", options.console.certificate, "its certificate chain, PEM");
  app.add_option("--console-tls-key", options.console.privateKey, "its private key, PEM");
  app.add_option("--certificates-for", certificatesFor,
                 "make and renew the certificates of this Service of the extender, in the Secrets NAME-ca, "
                 "NAME-tls and NAME-client of --namespace");
  app.add_option("--certificate-days", certificateDays, "how long these are valid; renewed after two thirds")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  app.add_flag("--end-all-jobs", endJobs,
               "delete every TrainingJob, wait until all are gone, for five minutes at most, and exit");
  trainyard::operator_::CheckOptions check;
  bool checks = false;
  app.add_flag("--check-installation", checks,
               "check whether this installation works, for a minute at most, and exit: `helm test` runs it");
  app.add_option("--check-extender", check.extenderUrl, "with it: the extender's address, https://HOST:PORT");
  app.add_option("--check-server-name", check.serverName, "with it: the name in the extender's certificate");
  app.add_option("--check-tls", check.tlsFolder, "with it: folder of a client's tls.crt, tls.key and ca.crt");
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
    fmt::print(stderr, "trainyard-operator: {}\n", level ? format.error().message : level.error().message);
    return 2;
  }
  options.logLevel = *level;
  options.logFormat = *format;
  if (checks) {
    trainyard::net::endProcess(
        trainyard::operator_::checkInstallation(options, check, std::chrono::minutes(1)));
  }
  if (endJobs) {
    trainyard::net::endProcess(trainyard::operator_::endAllJobs(options, std::chrono::minutes(5)));
  }
  if (!certificatesFor.empty()) {
    options.certificates =
        trainyard::operator_::CertificateOptions{.service = certificatesFor,
                                                 .ns = options.leaseNamespace,
                                                 .leafLife = std::chrono::hours(24 * certificateDays)};
  }
  trainyard::net::endProcess(trainyard::operator_::runProcess(options));
}
