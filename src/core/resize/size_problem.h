#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::core {

// The problem of choosing sizes for elastic jobs: Dorm's optimization ("Dorm: dynamically-partitioned cluster
// management for distributed machine learning", arXiv 1704.06738) in numbers. docs/sizes.md lists the
// differences. Amounts are in each resource's own unit.
struct SizeProblem {
  struct Job {
    std::vector<std::int64_t> demand;  // of one member, by kind of resource
    int minimum = 0;                   // minimum of members (and maximum, below)
    int most = 0;
    int present = 0;                    // present number of members, from least to most
    std::vector<std::uint32_t> places;  // their servers, by index; the job shrinks from its last one
    // Worth of least, least + 1, … members; one unit for all jobs, each value below 10^12.
    std::vector<std::int64_t> worth;
    std::int64_t cost = 0;    // of changing its size, in that unit
    std::int64_t weight = 1;  // divides its share where shares are compared
    std::uint32_t pool = 0;   // the servers that it may use
  };
  std::size_t kinds = 0;                 // number of kinds of resources
  std::vector<std::int64_t> capacity;    // of the cluster, by kind
  std::vector<std::int64_t> free;        // not used by the jobs' members: [server * kinds + kind]
  std::vector<std::vector<char>> pools;  // for each pool, by server: whether it belongs to the pool
  std::vector<Job> jobs;
  std::int64_t maxLoss = 0;  // limit of fairnessLoss(), in 10^-9; the present loss is always allowed
  int maxTouched = 0;        // limit of jobs that change their size

  [[nodiscard]] std::size_t servers() const { return kinds == 0 ? 0 : free.size() / kinds; }
};

// The dominant share of one member, in 10^-9 of the cluster.
[[nodiscard]] std::int64_t dominantShare(const SizeProblem& problem, const SizeProblem::Job& job);

// The sizes by weighted dominant resource fairness, between each job's least and most (Ghodsi et al.,
// "Dominant Resource Fairness", NSDI 2011, algorithm 1: the next member goes to the smallest weighted share).
// The cluster counts as one server. By job. Ties: the earlier job.
[[nodiscard]] std::vector<int> fairSizes(const SizeProblem& problem);

// Dorm's fairness loss: the sum over jobs of |share - fair share|, in 10^-9.
[[nodiscard]] std::int64_t fairnessLoss(const SizeProblem& problem, const std::vector<int>& fair,
                                        const std::vector<int>& sizes);

// The worth of the size minus the cost of changing to it.
[[nodiscard]] inline std::int64_t gainOf(const SizeProblem::Job& job, int size) {
  return job.worth[static_cast<std::size_t>(size - job.minimum)] - (size == job.present ? 0 : job.cost);
}

// An upper bound on the worth of any sizes. It is the least of: for each kind of resource alone, without
// servers and fairness, the optimum with fractions of members; and the present sizes plus the best allowed
// number of changes, each as if its job were alone.
[[nodiscard]] std::int64_t boundOf(const SizeProblem& problem);

}  // namespace trainyard::core
