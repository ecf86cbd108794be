#include "cli/plan_command.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/cluster_client.h"
#include "cli/command.h"
#include "cli/plain_text.h"
#include "cli/plan.h"
#include "kube/paths.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

using base::ErrorCode;
using base::Result;
using Json = nlohmann::ordered_json;

constexpr int kPlanned = 0;
constexpr int kFailed = 2;
constexpr std::int64_t kMaxBatch = 1'000'000'000;

struct PlanFlags {
  ConnectFlags connect;
  PlanOptions options;
  std::string file;
  std::string ns;
  std::vector<std::string> nodes;
  std::string cluster;
  std::string output = "table";
  std::size_t top = 10;
  bool apply = false;

  [[nodiscard]] bool live() const { return nodes.empty() && cluster.empty(); }
};

Result<model::Snapshot> describedCluster(const PlanFlags& flags) {
  std::vector<std::shared_ptr<const model::Node>> all;
  const auto add = [&](std::vector<model::Node> nodes) {
    for (model::Node& each : nodes) all.push_back(std::make_shared<const model::Node>(std::move(each)));
  };
  if (!flags.cluster.empty()) {
    auto nodes = readNodes(flags.cluster);
    if (!nodes) return base::fail(nodes.error());
    add(std::move(*nodes));
  }
  for (const std::string& each : flags.nodes) {
    auto nodes = parseNodes(each, all.size());
    if (!nodes) return base::fail(nodes.error());
    add(std::move(*nodes));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  model::Snapshot snapshot;
  snapshot.nodes = model::SharedList<model::Node>(std::move(all));
  return snapshot;
}

// Changes a job that was read from the cluster or a file.
void setPlannedNumbers(const model::ShapePlan& plan, Json& job) {
  for (auto& role : job["spec"]["roles"]) {
    for (const model::PlannedRole& each : plan.roles) {
      if (role["name"] == each.name) role["replicas"] = each.replicas;
    }
  }
}

// A merge patch replaces lists as a whole: it contains all roles as they were read.
std::string replicasPatch(const Json& job) {
  return Json{{"metadata", {{"resourceVersion", job["metadata"]["resourceVersion"]}}},
              {"spec", {{"roles", job["spec"]["roles"]}}}}
      .dump();
}

// The operator writes the job's status meanwhile; another client that edits it this often ends the attempts.
constexpr int kMaxConflicts = 10;

// Changes the job if it exists, or creates it with the planned numbers. If they were added after the
// creation, the operator might start the job with others.
Result<std::string> applyToCluster(ClusterClient& client, const model::ObjectKey& key,
                                   const model::ShapePlan& plan, const std::string& manifest) {
  const std::string path = kube::kTrainingJobs.object(key.ns, key.name);
  for (int conflicts = 0;; ++conflicts) {
    const auto body = client.get({path}).front();
    const bool isNew = !body && body.error().code == ErrorCode::kNotFound;
    if (!body && !isNew) return base::fail(body.error());
    auto job = Json::parse(isNew ? manifest : *body, nullptr, false);
    if (job.is_discarded()) return base::fail(ErrorCode::kInvalid, fmt::format("{}: not JSON", key));
    setPlannedNumbers(plan, job);
    const auto done = isNew ? client.post(kube::kTrainingJobs.collection(key.ns), job.dump(), {})
                            : client.patch(path, replicasPatch(job));
    if (done) {
      return isNew ? fmt::format("TrainingJob {} was created with the planned numbers.\n", key)
                   : fmt::format("TrainingJob {} has the planned numbers now.\n", key);
    }
    if (done.error().code == ErrorCode::kConflict && conflicts < kMaxConflicts) continue;
    return base::fail(done.error().code,
                      fmt::format("{} {}: {}", isNew ? "creating" : "changing", key, done.error().message));
  }
}

Result<std::string> applyToFile(const PlanFlags& flags, const Manifest& manifest,
                                const model::ShapePlan& plan) {
  if (flags.file == "-")
    return base::fail(ErrorCode::kInvalid, "--apply: needs a file to write to, not standard input");
  const auto text = base::readFile(flags.file);
  if (!text) return base::fail(text.error());
  const auto changed = writtenInto(*text, manifest, plan);
  if (!changed) return base::fail(changed.error());
  std::ofstream out(flags.file, std::ios::binary | std::ios::trunc);
  out << *changed;
  out.close();
  if (!out) return base::fail(ErrorCode::kInvalid, fmt::format("{}: cannot be written", flags.file));
  return fmt::format("{} has the planned numbers now.\n", flags.file);
}

Result<std::string> run(const PlanFlags& flags) {
  const auto manifests = readManifests({flags.file});
  if (!manifests) return base::fail(manifests.error());
  std::unique_ptr<ClusterClient> client;
  if (flags.live()) {
    auto connected = ClusterClient::connect(flags.connect);
    if (!connected) return base::fail(connected.error());
    client = std::move(*connected);
  }
  auto snapshot = client ? client->snapshot() : describedCluster(flags);
  if (!snapshot) return base::fail(snapshot.error());
  const std::string fallback = client ? client->ns() : std::string("default");
  const auto shapes =
      planShapes(*manifests, flags.options, flags.ns.empty() ? fallback : flags.ns, *snapshot);
  if (!shapes) return base::fail(shapes.error());
  std::string text = flags.output == "json" ? shapesJson(*shapes) : shapesText(*shapes, flags.top);
  if (!flags.apply) return text;
  const model::ShapePlan plan = core::shapePlanOf(shapes->job, shapes->planning, snapshot->now);
  const auto manifest = std::find_if(manifests->begin(), manifests->end(), [](const Manifest& each) {
    return each.kind == model::names::kTrainingJobKind;
  });
  const auto applied = client ? applyToCluster(*client, shapes->job.key, plan, manifest->json)
                              : applyToFile(flags, *manifest, plan);
  if (!applied) return base::fail(applied.error());
  return flags.output == "json" ? text : text + *applied;
}

int runPlanCommand(const PlanFlags& flags, const std::string& program) {
  const auto text = run(flags);
  if (!text) {
    fmt::print(stderr, "{} plan: {}\n", program, plainText(text.error().message, true));
    return kFailed;
  }
  fmt::print("{}", plainText(*text, true));
  return kPlanned;
}

}  // namespace

void addPlanCommand(CLI::App& app, const std::string& program,
                    const std::function<void(std::function<int()>)>& run) {
  CLI::App* command = app.add_subcommand(
      "plan", "with how many workers and parameter servers, on how many nodes, a job would train fastest");
  const auto flags = std::make_shared<PlanFlags>();
  command->add_option("-f,--filename", flags->file, "file with the TrainingJob; - is standard input")
      ->required();
  command->add_option("--profile", flags->options.profile,
                      "figures of the model, a JSON file; in place of spec.plan.model");
  command->add_option("--measurements", flags->options.measurements,
                      "measured steps, a CSV file with placement, batch, step_seconds");
  command
      ->add_option("--batch", flags->options.batch,
                   "samples in a step over all workers; overrides the profile")
      ->check(CLI::Range(std::int64_t{1}, kMaxBatch));
  command
      ->add_option("--batch-per-worker", flags->options.batchPerWorker,
                   "samples of one worker in a step; overrides the profile")
      ->check(CLI::Range(std::int64_t{1}, kMaxBatch));
  command->add_option(
      "--nodes", flags->nodes,
      "plan for NODESxGPUS[:TYPE][@GBPS] instead of the cluster, as 16x4:Tesla-T4@25; also more "
      "than once");
  command->add_option("--cluster", flags->cluster, "plan for the Nodes of this file instead of the cluster");
  addConnectFlags(command, flags->connect);
  command->add_option("-n,--namespace", flags->ns, "namespace of a job that names none");
  command->add_option("-o,--output", flags->output, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->add_option("--top", flags->top, "lines of the table")->capture_default_str();
  command->add_flag(
      "--apply", flags->apply,
      "write the first one's numbers into the job in the cluster, which is created where it does "
      "not exist; with --nodes or --cluster into the file");
  command->footer(
      fmt::format("Exit status: 0 planned, 2 not.\n\nExample:\n"
                  "  $ {} plan -f examples/10-planned.yaml --nodes 4x4:Tesla-T4\n",
                  program));
  command->callback(
      [flags, run, program] { run([flags, program] { return runPlanCommand(*flags, program); }); });
}

}  // namespace trainyard::cli
