#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/secrets.h"
#include "cli/tar.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

constexpr const char* kLogLines = "5000";
// There is an agent on each node: this many show whether all of them or only some have trouble.
constexpr std::size_t kMaxAgents = 20;
constexpr const char* kOurPods = "app.kubernetes.io/part-of=trainyard";

struct SupportBundleFlags {
  ConnectFlags connect;
  std::string ns;  // of jobs; empty: all
  std::string system = "trainyard-system";
  std::string agents = "trainyard-agent";
  std::string policy = "trainyard-policy";
  std::string file = "trainyard-support.tar";
  bool arguments = false;
};

struct Source {
  std::string name;
  std::string path;
  kube::Query query = {};
  bool ours = false;  // of Trainyard's own programs, which have no secret arguments
};

class Bundle {
 public:
  Bundle(ClusterClient& client, bool withArguments) : client_(client), withArguments_(withArguments) {}

  // An object that the user may not read is replaced by the error, which also helps a supporter.
  void add(const Source& source) {
    const auto body = client_.read(source.path, source.query);
    const Arguments arguments = source.ours || withArguments_ ? Arguments::kKeep : Arguments::kNamesOnly;
    const auto clean = body ? withoutSecrets(*body, arguments) : base::fail(body.error());
    files_.emplace_back(folder(source.name + (clean ? ".json" : ".error.txt")),
                        clean ? *clean : clean.error().message + "\n");
    if (clean) return;
    ++missing_;
    if (!firstError_) firstError_ = clean.error();
  }

  void addLog(const std::string& ns, const std::string& pod, bool previous) {
    kube::Query query{{"tailLines", kLogLines}};
    if (previous) query.emplace_back("previous", "true");
    const auto body = client_.read(kube::kPods.object(ns, pod, "log"), query);
    if (!body) return;
    files_.emplace_back(folder(fmt::format("logs/{}{}.log", pod, previous ? ".previous" : "")),
                        textWithoutSecrets(*body));
  }

  // Adds the logs of at most `most` pods, first of those with trouble: not ready, or restarted.
  void addLogsOf(const std::string& ns, std::size_t most) {
    const auto body = client_.read(kube::kPods.collection(ns), {{"labelSelector", kOurPods}});
    if (!body) return;
    const auto list = nlohmann::json::parse(*body, nullptr, false);
    if (!list.is_object()) return;
    std::vector<std::pair<bool, std::string>> pods;
    for (const auto& each : list.value("items", nlohmann::json::array()))
      pods.emplace_back(runsWell(each), each["metadata"]["name"].get<std::string>());
    std::sort(pods.begin(), pods.end());
    if (pods.size() > most) pods.resize(most);
    for (const auto& [well, pod] : pods) {
      addLog(ns, pod, false);
      addLog(ns, pod, true);
    }
  }

  // Returns the first error if nothing could be read.
  base::Result<std::string> write(const std::string& file) {
    if (firstError_ && missing_ == static_cast<int>(files_.size())) return base::fail(*firstError_);
    files_.emplace_back(folder("version.txt"), fmt::format("trainyard {}\n", TRAINYARD_VERSION));
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(client_.now().time_since_epoch()).count();
    out << tarOf(files_, seconds);
    out.close();
    if (!out) return base::fail(base::ErrorCode::kUnavailable, fmt::format("{} cannot be written", file));
    return fmt::format(
        "{}: {} files, {} that could not be read. Values of variables{} and what looks like a secret were "
        "removed; names of jobs, images and nodes are in it: look before you send it.\n",
        file, files_.size(), missing_, withArguments_ ? "" : ", arguments, annotations");
  }

 private:
  static bool runsWell(const nlohmann::json& pod) {
    const nlohmann::json containers =
        pod.value(nlohmann::json::json_pointer("/status/containerStatuses"), nlohmann::json::array());
    return !containers.empty() && std::all_of(containers.begin(), containers.end(), [](const auto& each) {
      return each.value("ready", false) && each.value("restartCount", 0) == 0;
    });
  }

  static std::string folder(const std::string& name) { return "trainyard-support/" + name; }

  ClusterClient& client_;
  bool withArguments_;
  std::vector<std::pair<std::string, std::string>> files_;
  int missing_ = 0;
  std::optional<base::Error> firstError_;
};

base::Result<std::string> collect(const SupportBundleFlags& flags) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  const auto in = [&](const kube::ResourceType& type) {
    return flags.ns.empty() ? type.collection() : type.collection(flags.ns);
  };
  const std::string& system = flags.system;
  Bundle bundle(**client, flags.arguments);
  // Includes no Secrets, and only the policy of the ConfigMaps.
  for (const Source& each : std::vector<Source>{
           {"server", "/version"},
           {"trainingjobs", in(kube::kTrainingJobs)},
           {"queues", kube::kQueues.collection()},
           {"pods-of-jobs", in(kube::kPods), {{"labelSelector", "trainyard.dev/job-name"}}},
           {"nodes", kube::kNodes.collection()},
           {"priorityclasses", kube::kPriorityClasses.collection()},
           {"events",
            flags.ns.empty() ? "/api/v1/events" : fmt::format("/api/v1/namespaces/{}/events", flags.ns),
            {{"fieldSelector", "involvedObject.kind=TrainingJob"}}},
           {"system/deployments",
            fmt::format("/apis/apps/v1/namespaces/{}/deployments", system),
            {{"labelSelector", kOurPods}},
            true},
           {"system/pods", kube::kPods.collection(system), {{"labelSelector", kOurPods}}, true},
           {"system/policy", kube::kConfigMaps.object(system, flags.policy)},
           {"system/lease", kube::kLeases.object(system, "trainyard-operator")},
           {"system/events", fmt::format("/api/v1/namespaces/{}/events", system)},
           {"agents/pods", kube::kPods.collection(flags.agents), {{"labelSelector", kOurPods}}, true}}) {
    bundle.add(each);
  }
  bundle.addLogsOf(system, std::numeric_limits<std::size_t>::max());
  if (flags.agents != system) bundle.addLogsOf(flags.agents, kMaxAgents);
  return bundle.write(flags.file);
}

}  // namespace

void addSupportBundleCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<SupportBundleFlags>();
  CLI::App* command =
      app.add_subcommand("support-bundle", "collect diagnostics into a tar file (secrets removed)");
  command->add_option("-n,--namespace", flags->ns, "jobs of this namespace only");
  command->add_option("--system-namespace", flags->system, "namespace of Trainyard (trainyard-system)");
  command->add_option("--agent-namespace", flags->agents,
                      "namespace of its agents, if there are any (trainyard-agent)");
  command->add_option("--policy-configmap", flags->policy,
                      "the policy's ConfigMap there, NAME-policy (trainyard-policy)");
  command->add_option("--file", flags->file, "the file (trainyard-support.tar)");
  command->add_flag("--with-arguments", flags->arguments,
                    "keep arguments and annotations of jobs, except what looks like a secret");
  addConnectFlags(command, flags->connect);
  command->callback(
      [flags, program, run] { run([flags, program] { return printResult(program, collect(*flags)); }); });
}

}  // namespace trainyard::cli
