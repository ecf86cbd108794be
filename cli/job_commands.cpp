#include "cli/job_commands.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "cli/cluster_topology.h"
#include "cli/command.h"
#include "cli/decoded_items.h"
#include "cli/job_text.h"
#include "codec/job.h"
#include "codec/list.h"
#include "codec/node.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

// Racks are left out for jobs on more nodes, so that an answer takes at most a second.
constexpr std::size_t kMaxNodes = 128;

struct JobAnswer {
  model::Job job;
  Where where;
};

Nodes readNodes(ClusterClient& client, const std::vector<model::NodeName>& names) {
  if (names.size() > kMaxNodes) return {};
  std::vector<std::string> paths;
  for (const model::NodeName& name : names) paths.push_back(kube::kNodes.object("", name.str()));
  Nodes nodes;
  // If a node does not exist or the user may not read it, only its rack is missing.
  for (const auto& body : client.get(paths)) {
    if (!body) continue;
    if (auto node = codec::decodeNode(*body))
      nodes.push_back(std::make_shared<const model::Node>(std::move(*node)));
  }
  return nodes;
}

base::Result<JobAnswer> readJob(ClusterClient& client, const JobFlags& flags) {
  const auto key = parseJobName(flags.job, flags.ns, client.ns());
  if (!key) return base::fail(key.error());
  const auto body = readJobBody(client, *key);
  if (!body) return base::fail(body.error());
  auto job = codec::decodeJobOrGang(*body);
  if (!job) return base::fail(job.error());
  Where where(readNodes(client, nodesOf(*job)));
  if (!where.nodes.empty()) where.topology = topologyOf(client);
  return JobAnswer{std::move(*job), std::move(where)};
}

base::Result<std::vector<model::Job>> readOneKind(ClusterClient& client, const JobFlags& flags,
                                                  const kube::ResourceType& type, std::string_view kind) {
  const std::string path =
      flags.allNamespaces ? type.collection() : type.collection(flags.ns.empty() ? client.ns() : flags.ns);
  kube::Query query;
  if (!flags.selector.empty()) query.emplace_back("labelSelector", flags.selector);
  auto body = client.read(path, query);
  if (!body) return base::fail(explainRefusal(body.error(), fmt::format("{}s", kind), client));
  auto list = codec::decodeList(std::move(*body));
  if (!list) return base::fail(list.error());
  auto decoded = decodeItems(*list, kind, [](const auto& item) { return codec::decodeJobOrGang(item); });
  warnOf(decoded.skipped);
  return std::move(decoded.items);
}

base::Result<std::vector<model::Job>> readJobs(ClusterClient& client, const JobFlags& flags) {
  auto jobs = readOneKind(client, flags, kube::kTrainingJobs, "TrainingJob");
  if (!jobs) return jobs;
  auto gangs = readOneKind(client, flags, kube::kGangs, "Gang");
  // A role may grant TrainingJobs alone.
  if (!gangs && gangs.error().code == base::ErrorCode::kForbidden) return jobs;
  if (!gangs) return gangs;
  std::move(gangs->begin(), gangs->end(), std::back_inserter(*jobs));
  std::sort(jobs->begin(), jobs->end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return jobs;
}

}  // namespace

base::Result<std::string> runStatus(const JobFlags& flags) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  if (!flags.job.empty()) {
    const auto answer = readJob(**client, flags);
    if (!answer) return base::fail(answer.error());
    return flags.json ? jobJson(answer->job, answer->where)
                      : jobDetails(answer->job, answer->where, (*client)->now());
  }
  const auto jobs = readJobs(**client, flags);
  if (!jobs) return base::fail(jobs.error());
  if (flags.json) return jobsJson(*jobs);
  if (jobs->empty() && !flags.selector.empty()) return std::string("No TrainingJobs have these labels.\n");
  if (jobs->empty()) {
    return flags.allNamespaces ? std::string("No TrainingJobs.\n")
                               : fmt::format("No TrainingJobs in namespace {}.\n",
                                             flags.ns.empty() ? (*client)->ns() : flags.ns);
  }
  return jobsTable(*jobs, flags.allNamespaces, (*client)->now());
}

base::Result<std::string> runExplain(const JobFlags& flags) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  const auto answer = readJob(**client, flags);
  if (!answer) return base::fail(answer.error());
  return flags.json ? jobJson(answer->job, answer->where)
                    : explainJob(answer->job, answer->where, (*client)->now());
}

}  // namespace trainyard::cli
