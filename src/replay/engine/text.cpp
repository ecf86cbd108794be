#include "replay/engine/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_text.h"

namespace trainyard::replay {
namespace {

std::string grouped(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string line(const char* name, const std::string& value) {
  return fmt::format("{:<30}{:>24}\n", name, value);
}

std::string seconds(const char* name, double value) { return line(name, grouped(value, 1) + " s"); }

std::string percent(const char* name, double value) {
  return line(name, fmt::format("{:.2f} %", value * 100));
}

std::string delay(const char* name, const ReplayDelay& delay) {
  return seconds(name, delay.mean) + seconds("  p99", delay.p99) + seconds("  total", delay.total);
}

std::string json(const ReplayDelay& delay) {
  return fmt::format(R"({{"total":{},"mean":{},"p99":{}}})", delay.total, delay.mean, delay.p99);
}

std::string_view nameOf(ReplayPlacement placement) {
  switch (placement) {
    case ReplayPlacement::kDefault: return "default";
    case ReplayPlacement::kFgd: return "fgd";
    case ReplayPlacement::kBestFit: return "bestfit";
    case ReplayPlacement::kRandom: return "random";
  }
  return "";
}

// The GPU allocation of every placement policy, at some amounts of arrivals and at the end, in percent.
std::string allocationTable(const ReplayResult& result) {
  std::string text = line("pods offered", grouped(static_cast<double>(result.jobs), 0));
  text += percent("GPU allocation", result.gpuAllocation);
  const auto row = [&](const std::string& name, const auto& cell) {
    text += fmt::format("{:<18}", name);
    for (const ReplayAllocation& each : result.allocations) text += fmt::format("{:>9}", cell(each));
    text += "\n";
  };
  row("arrived", [](const ReplayAllocation& each) { return std::string(nameOf(each.placement)); });
  for (const std::size_t arrived : {50, 70, 80, 90, 95, 100, 110, 120, 130}) {
    row(fmt::format("{:>4} %", arrived), [&](const ReplayAllocation& each) {
      return arrived < each.byArrivals.size() ? fmt::format("{:.2f}", each.byArrivals[arrived] * 100) : "";
    });
  }
  const auto isPublished = [](const ReplayAllocation& each) { return each.published > 0; };
  if (std::any_of(result.allocations.begin(), result.allocations.end(), isPublished)) {
    row("published, 130 %", [&](const ReplayAllocation& each) {
      return isPublished(each) ? fmt::format("{:.2f}", each.published * 100) : "-";
    });
  }
  return text;
}

std::string finishTimeRatios(const ReplayResult& result) {
  const auto ratio = [](double value) { return fmt::format("{:.2f}", value); };
  std::string text = line("finish-time ratio, mean", ratio(result.fairness.rhoMean));
  text += line("  p95", ratio(result.fairness.rhoP95));
  if (result.queues.empty()) return text;
  text += seconds("below guarantee, all queues", result.fairness.belowGuaranteeSeconds);
  text += fmt::format("{:<30}{:>24}{:>12}{:>10}{:>22}\n", "queue", "jobs", "ratio", "p95", "below guarantee");
  for (const ReplayFairness& queue : result.queues) {
    text += fmt::format("{:<30}{:>24}{:>12}{:>10}{:>20} s\n", queue.queue,
                        grouped(static_cast<double>(queue.jobs), 0), ratio(queue.rhoMean),
                        ratio(queue.rhoP95), grouped(queue.belowGuaranteeSeconds, 1));
  }
  return text;
}

std::string json(const std::vector<ReplayFairness>& queues) {
  std::string text = "{";
  for (const ReplayFairness& queue : queues) {
    text += fmt::format(
        R"({}{}:{{"jobs":{},"finishTimeRatio":{{"mean":{},"p95":{}}},"belowGuaranteeSeconds":{}}})",
        text.size() > 1 ? "," : "", base::quoteJson(queue.queue), queue.jobs, queue.rhoMean, queue.rhoP95,
        queue.belowGuaranteeSeconds);
  }
  return text + "}";
}

std::string json(const std::vector<ReplayAllocation>& allocations) {
  std::string text = "{";
  for (const ReplayAllocation& each : allocations) {
    text += fmt::format(R"({}"{}":{{"gpuAllocation":{})", text.size() > 1 ? "," : "", nameOf(each.placement),
                        each.gpuAllocation);
    if (each.published > 0) text += fmt::format(R"(,"published":{})", each.published);
    text += "}";
  }
  return text + "}";
}

std::string partitions(const ReplayPartitions& of) {
  std::string text = line("Dorm's utilization", fmt::format("{:.3f}", of.utilization));
  text += line("Dorm's fairness loss", fmt::format("{:.3f}", of.fairnessLoss));
  text += line("partitions adjusted", grouped(static_cast<double>(of.adjustments), 0));
  double most = 0;
  for (const ReplayPartitions::OfJob& job : of.jobs) most = std::max(most, job.overhead);
  return text + percent("overhead of adjusting, at most", most);
}

std::string json(const ReplayPartitions& of) {
  std::string text =
      fmt::format(R"({{"utilization":{},"fairnessLoss":{},"adjustments":{},"busySeconds":{},"jobs":{{)",
                  of.utilization, of.fairnessLoss, of.adjustments, of.busySeconds);
  for (std::size_t i = 0; i < of.jobs.size(); ++i) {
    text += fmt::format(R"({}{}:{{"completionSeconds":{},"overhead":{}}})", i > 0 ? "," : "",
                        base::quoteJson(of.jobs[i].name), of.jobs[i].completionSeconds, of.jobs[i].overhead);
  }
  return text + "}}";
}

}  // namespace

std::string replayTable(const ReplayResult& result) {
  if (!result.allocations.empty()) {
    std::string text = allocationTable(result);
    for (const std::string& note : result.notes) text += note + "\n";
    return text;
  }
  std::string text = line("jobs", grouped(static_cast<double>(result.jobs), 0));
  text += line("mean completion time", grouped(result.meanCompletionSeconds, 1) + " s");
  if (result.fluidLowerBoundSeconds > 0) {
    text.pop_back();
    text += fmt::format("   no schedule is below {} s\n", grouped(result.fluidLowerBoundSeconds, 1));
  }
  text += seconds("median completion time", result.medianCompletionSeconds);
  text += seconds("p99 completion time", result.p99CompletionSeconds);
  text += seconds("makespan", result.makespanSeconds);
  text += percent("GPU utilization", result.gpuUtilization);
  text += percent("GPU allocation", result.gpuAllocation);
  text += percent("fairness loss", result.fairnessLoss);
  text += delay("fair-share delay, mean", result.fairShareDelaySeconds);
  text += delay("fragmentation delay, mean", result.fragmentationDelaySeconds);
  text += finishTimeRatios(result);
  text += line("GPU time lost by stops", grouped(result.lostGpuSeconds / 3'600, 1) + " GPU h");
  text += line("preemptions", grouped(static_cast<double>(result.preemptions), 0));
  text += line("resizes", grouped(static_cast<double>(result.resizes), 0));
  if (result.partitions) text += partitions(*result.partitions);
  for (const std::string& note : result.notes) text += note + "\n";
  return text;
}

std::string replayJson(const ReplayResult& result) {
  std::string text = fmt::format(R"({{"jobs":{})", result.jobs);
  const auto add = [&](const char* key, const auto& value) {
    text += fmt::format(R"(,"{}":{})", key, value);
  };
  add("meanCompletionSeconds", result.meanCompletionSeconds);
  add("fluidLowerBoundSeconds", result.fluidLowerBoundSeconds);
  add("medianCompletionSeconds", result.medianCompletionSeconds);
  add("p99CompletionSeconds", result.p99CompletionSeconds);
  add("makespanSeconds", result.makespanSeconds);
  add("gpuUtilization", result.gpuUtilization);
  add("gpuAllocation", result.gpuAllocation);
  add("fairnessLoss", result.fairnessLoss);
  add("fairShareDelaySeconds", json(result.fairShareDelaySeconds));
  add("fragmentationDelaySeconds", json(result.fragmentationDelaySeconds));
  add("finishTimeRatio",
      fmt::format(R"({{"mean":{},"p95":{}}})", result.fairness.rhoMean, result.fairness.rhoP95));
  add("belowGuaranteeSeconds", result.fairness.belowGuaranteeSeconds);
  if (!result.queues.empty()) add("queues", json(result.queues));
  add("lostGpuSeconds", result.lostGpuSeconds);
  add("preemptions", result.preemptions);
  add("resizes", result.resizes);
  if (result.partitions) add("partitions", json(*result.partitions));
  if (!result.allocations.empty()) add("placements", json(result.allocations));
  return text + "}\n";
}

}  // namespace trainyard::replay
