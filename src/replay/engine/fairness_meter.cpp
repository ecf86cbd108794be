#include "replay/engine/fairness_meter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "replay/engine/statistics.h"

namespace trainyard::replay {

FairnessMeter::FairnessMeter(const Trace& trace, const GpuUsage& usage, const DelayMeter& delays, bool strict)
    : trace_(trace),
      usage_(usage),
      delays_(delays),
      strict_(strict),
      queues_(trace.queues.size()),
      rho_(trace.jobs.size()),
      stayedBefore_(trace.jobs.size()) {}

void FairnessMeter::submitted(std::size_t job) {
  Queue& queue = queues_[trace_.jobs[job].queue];
  ++queue.live;
  stayedBefore_[job] = queue.stayed;
}

void FairnessMeter::ended(std::size_t job, double stay) {
  --queues_[trace_.jobs[job].queue].live;
  rho_[job] = finishTimeRatio(job, stay);
}

void FairnessMeter::advance(double passed) {
  if (queues_.size() > 1) {
    above_ += passed * heldAboveFairShare();
    if (!strict_) countBelowGuarantee(passed);
  }
  for (Queue& queue : queues_) queue.stayed += passed * static_cast<double>(queue.live);
}

double FairnessMeter::heldAboveFairShare() const {
  // A queue that requests less than its part leaves the rest to the others; repeated until no queue does.
  std::vector<const GpuUsage::OfQueue*> open;
  for (const GpuUsage::OfQueue& queue : usage_.queues) open.push_back(&queue);
  double left = static_cast<double>(usage_.capacity);
  double above = 0;
  for (bool again = true; again;) {
    again = false;
    const double parts =
        std::accumulate(open.begin(), open.end(), 0.0,
                        [](double sum, const GpuUsage::OfQueue* queue) { return sum + queue->share; });
    const double rest = left;
    std::erase_if(open, [&](const GpuUsage::OfQueue* queue) {
      const double part = parts > 0 ? rest * queue->share / parts : 0;
      if (static_cast<double>(queue->wanted) > part) return false;
      left -= static_cast<double>(queue->wanted);
      again = true;
      return true;
    });
    if (again) continue;
    for (const GpuUsage::OfQueue* queue : open) {
      const double part = parts > 0 ? rest * queue->share / parts : 0;
      above += std::max(0.0, static_cast<double>(queue->used) - part);
    }
  }
  return above;
}

void FairnessMeter::countBelowGuarantee(double passed) {
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    const auto smallest = delays_.smallestWaiting(i);
    const GpuUsage::OfQueue& queue = usage_.queues[i];
    if (smallest && static_cast<double>(queue.used + *smallest) <= std::floor(queue.share))
      queues_[i].below += passed;
  }
}

double FairnessMeter::finishTimeRatio(std::size_t job, double stay) const {
  const TraceJob& facts = trace_.jobs[job];
  const double share = usage_.queues[facts.queue].share;
  const double duration = std::max(secondsOf(trace_.work[job].duration), 1.0);
  const double stayed = queues_[facts.queue].stayed - stayedBefore_[job];
  const double others = stay > 0 ? std::max(stayed / stay, 1.0) : 1.0;
  const double part = share / others;
  const double alone = duration * std::max(part > 0 ? facts.gpus / part : 1.0, 1.0);
  return std::max(stay, 1.0) / alone;
}

std::vector<ReplayFairness> FairnessMeter::fairness() const {
  std::vector<ReplayFairness> all(queues_.size() + 1);
  std::vector<std::vector<double>> ratios(queues_.size() + 1);
  for (std::size_t job = 0; job < rho_.size(); ++job) {
    ratios.front().push_back(rho_[job]);
    ratios[trace_.jobs[job].queue + 1].push_back(rho_[job]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::sort(ratios[i].begin(), ratios[i].end());
    all[i].jobs = ratios[i].size();
    all[i].rhoMean = mean(ratios[i]);
    all[i].rhoP95 = percentile(ratios[i], 95);
    if (i == 0) continue;
    all[i].queue = trace_.queues[i - 1];
    all[i].belowGuaranteeSeconds = queues_[i - 1].below;
    all.front().belowGuaranteeSeconds += queues_[i - 1].below;
  }
  return all;
}

}  // namespace trainyard::replay
