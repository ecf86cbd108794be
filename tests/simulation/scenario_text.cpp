#include <fmt/format.h>

#include "simulation/scenario.h"

namespace trainyard::simulation {
namespace {

constexpr std::string_view kWords[] = {"delete job",
                                       "suspend job",
                                       "resume job",
                                       "edit job",
                                       "scale job",
                                       "scale while it resizes",
                                       "crash while it resizes",
                                       "recreate job",
                                       "delete member",
                                       "foreign pod",
                                       "take name",
                                       "delete node",
                                       "return node",
                                       "cordon",
                                       "uncordon",
                                       "kubelet down",
                                       "kubelet up",
                                       "no GPUs",
                                       "GPUs back",
                                       "taint",
                                       "untaint",
                                       "extender down",
                                       "extender up",
                                       "crash",
                                       "stop",
                                       "pause",
                                       "compact",
                                       "end watches",
                                       "new queue",
                                       "cordon starting",
                                       "suspend starting",
                                       "kubelet of member down",
                                       "hold gang",
                                       "release gang",
                                       "scale owner"};

std::string resizeText(const JobPlan& job) {
  if (!job.elastic) return job.late > 0 ? fmt::format(", {} may come later", job.late) : std::string();
  static constexpr std::string_view kWays[] = {"finds out", "is notified", "restarts"};
  return fmt::format(", elastic ({}; leaves after \"{}\")", kWays[static_cast<std::size_t>(job.resizes)],
                     job.leaveFor);
}

std::string ownerText(const JobPlan& job) {
  if (job.owner == OwnerPlan::kNone) return {};
  if (job.owner == OwnerPlan::kReplicaSet) return ", pods of a ReplicaSet";
  return fmt::format(", pods of a Job{}{}, each {} ms longer, at most {} failures",
                     job.inOrder ? " in order" : "", job.startsRunning ? ", created running" : "",
                     job.longerByIndex.count(), job.backoffLimit);
}

std::string_view wishText(NodeConstraint wish) {
  static constexpr std::string_view kWishWords[] = {"", ", in the first rack", ", not in the first rack",
                                                    ", tolerates maintenance", ", one a node"};
  return kWishWords[static_cast<std::size_t>(wish)];
}

}  // namespace

std::string describe(const Scenario& scenario) {
  std::string text = fmt::format(
      "seed {}: {} nodes of {} GPUs, {} in a rack, {} operators, {} extender, latency {} us, watch lag {} "
      "us, {} ms\n",
      scenario.seed, scenario.nodes, scenario.gpusOnNode, scenario.nodesInRack, scenario.operators,
      scenario.extender ? "with" : "no", scenario.latency.count(), scenario.watchLag.count(),
      scenario.length.count());
  text += fmt::format(
      "  stopped after {} ms at the earliest{}{}\n", scenario.policy.preemption.minRuntime.count(),
      scenario.policy.timeSlicing.enabled
          ? fmt::format(", turns of {} ms", scenario.policy.timeSlicing.interval.count())
          : "",
      scenario.defaultCpus > 0 ? fmt::format(", {} cpus by default", scenario.defaultCpus) : "");
  for (const QueuePlan& queue : scenario.queues) {
    text += fmt::format("  queue {} below {}: weight {}, guaranteed {}, limit {}{}{}\n", queue.name,
                        queue.parent.empty() ? "-" : queue.parent, queue.weight, queue.guaranteed,
                        queue.limit ? fmt::to_string(*queue.limit) : "none",
                        queue.reclaim ? "" : ", takes nothing back",
                        queue.withinQueue ? "" : ", no gang is preempted within it");
  }
  for (const JobPlan& job : scenario.jobs) {
    text += fmt::format(
        "  {:>6} ms job {} runs {} ms, exit {}, restarts {}{}{}{}{}{}{}{}{}{}{}:", job.submitAt.count(),
        job.name, job.runFor.count(), job.exitCode, job.restartWhole ? "whole" : "pods", resizeText(job),
        ownerText(job), job.required.empty() ? "" : ", within one " + job.required, wishText(job.wish),
        job.queue.empty() ? "" : ", in " + job.queue, job.priority.empty() ? "" : ", " + job.priority,
        job.preemptible ? "" : ", cannot be stopped",
        job.estimate.count() == 0 ? "" : fmt::format(", says {} s", job.estimate.count()),
        job.deadline.count() == 0 ? "" : fmt::format(", ends after {} s", job.deadline.count()),
        job.log.empty() ? "" : fmt::format(", says \"{}\"", job.log));
    for (const RolePlan& role : job.roles)
      text += fmt::format(" {} {} x {} GPUs", role.name, role.replicas, role.gpus);
    text += '\n';
  }
  for (const TroublePlan& trouble : scenario.troubles) {
    text += fmt::format("  {:>6} ms {} (pick {}, amount {})\n", trouble.at.count(),
                        kWords[static_cast<std::size_t>(trouble.kind)], trouble.pick % 60, trouble.amount);
  }
  for (const FaultTarget& target : scenario.odds.targets) {
    text += fmt::format("  \"{}\" number {} meets \"{}\"\n", toString(target.step), target.occurrence,
                        toString(target.fault));
  }
  return text;
}

}  // namespace trainyard::simulation
