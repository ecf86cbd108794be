#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::core {

// Which sizes elastic jobs are to have: Dorm's optimization ("Dorm: dynamically-partitioned cluster
// management for distributed machine learning", arXiv 1704.06738) in numbers, with the differences that
// docs/sizes.md tells. Amounts are in each resource's own unit.
struct SizeProblem {
  struct Job {
    std::vector<std::int64_t> demand;  // of one member, by kind of resource
    int least = 0;                     // it may have so many members
    int most = 0;
    int present = 0;                    // it has so many, least to most
    std::vector<std::uint32_t> places;  // their servers, by index: it shrinks from its last
    // Of having least, least + 1, … members; the same unit for all jobs, any size of numbers below 10^12.
    std::vector<std::int64_t> worth;
    std::int64_t cost = 0;    // of another size than it has, in that unit
    std::int64_t weight = 1;  // its part among others, where shares are compared
    std::uint32_t pool = 0;   // the servers that it may use
  };
  std::size_t kinds = 0;                 // of resources
  std::vector<std::int64_t> capacity;    // of the cluster, by kind
  std::vector<std::int64_t> free;        // beside the jobs' members: [server * kinds + kind]
  std::vector<std::vector<char>> pools;  // by server
  std::vector<Job> jobs;
  std::int64_t mostLoss = 0;  // of fairness(), in 10^-9; what it is at present is always allowed
  int mostTouched = 0;        // jobs with another size than they have

  [[nodiscard]] std::size_t servers() const { return kinds == 0 ? 0 : free.size() / kinds; }
};

// The dominant share of one member, in 10^-9 of the cluster.
[[nodiscard]] std::int64_t dominantShare(const SizeProblem& problem, const SizeProblem::Job& job);

// What weighted dominant resource fairness gives each job between its least and its most (Ghodsi et al.,
// "Dominant Resource Fairness", NSDI 2011, algorithm 1: the next member goes to the smallest share by
// weight), the cluster taken as one server. By job. Ties: the earlier job.
[[nodiscard]] std::vector<int> fairSizes(const SizeProblem& problem);

// Dorm's fairness loss: the sum over jobs of |share - fair share|, in 10^-9.
[[nodiscard]] std::int64_t fairnessLoss(const SizeProblem& problem, const std::vector<int>& fair,
                                        const std::vector<int>& sizes);

// What the size is worth less what it costs to come to it.
[[nodiscard]] inline std::int64_t gainOf(const SizeProblem::Job& job, int size) {
  return job.worth[static_cast<std::size_t>(size - job.least)] - (size == job.present ? 0 : job.cost);
}

// No sizes are worth more: for each kind of resource alone, with servers and fairness left out, the best that
// fractions of members could reach; and the present with as many jobs touched as may be, each as if it were
// alone.
[[nodiscard]] std::int64_t boundOf(const SizeProblem& problem);

}  // namespace trainyard::core
