#include "core/resize/size_packing.h"

#include <algorithm>

namespace trainyard::core {

using Job = SizeProblem::Job;

SizePacking::SizePacking(const SizeProblem& problem, std::int64_t work)
    : in_(problem), work_(work), free_(problem.free), added_(problem.jobs.size()) {
  sizes_.reserve(problem.jobs.size());
  for (const Job& job : problem.jobs) sizes_.push_back(job.present);
}

std::int64_t SizePacking::fitting(const Job& job, std::size_t server, std::int64_t most) {
  const std::int64_t* available = capacityOf(server);
  for (std::size_t k = 0; k < in_.kinds; ++k) {
    if (job.demand[k] > 0) most = std::min(most, std::max<std::int64_t>(available[k], 0) / job.demand[k]);
  }
  return most;
}

void SizePacking::take(const Job& job, std::size_t server, std::int64_t count) {
  std::int64_t* available = capacityOf(server);
  for (std::size_t k = 0; k < in_.kinds; ++k) available[k] -= job.demand[k] * count;
}

std::tuple<std::int64_t, double, std::size_t> SizePacking::rankOf(std::int64_t fits, double left,
                                                                  std::size_t server) const {
  return {way_ == Way::kFullest ? 0 : -fits, way_ == Way::kMostThenEmptiest ? -left : left, server};
}

std::optional<std::size_t> SizePacking::serverFor(const Job& job, std::int64_t wanted) {
  std::optional<std::size_t> best;
  std::tuple<std::int64_t, double, std::size_t> bestRank;
  const std::size_t servers = in_.servers();
  work_ -= static_cast<std::int64_t>(servers);
  const std::vector<char>& pool = in_.pools[job.pool];
  for (std::size_t server = 0; server < servers; ++server) {
    if (pool[server] == 0) continue;
    const std::int64_t fits = fitting(job, server, wanted);
    if (fits == 0) continue;
    double left = 0;
    for (std::size_t k = 0; k < in_.kinds; ++k) {
      if (in_.capacity[k] > 0)
        left += static_cast<double>(capacityOf(server)[k]) / static_cast<double>(in_.capacity[k]);
    }
    const std::tuple rank = rankOf(fits, left, server);
    if (best && rank >= bestRank) continue;
    best = server;
    bestRank = rank;
  }
  return best;
}

void SizePacking::shrinkTo(std::size_t index, int size) {
  const Job& job = in_.jobs[index];
  for (; sizes_[index] > size; --sizes_[index]) {
    Added& added = added_[index];
    const bool wasAdded = sizes_[index] > job.present;
    const std::size_t server =
        wasAdded ? added.back() : job.places[static_cast<std::size_t>(sizes_[index]) - 1];
    if (wasAdded) added.pop_back();
    take(job, server, -1);
  }
}

bool SizePacking::growTo(std::size_t index, int size) {
  const Job& job = in_.jobs[index];
  for (; sizes_[index] < std::min(size, job.present); ++sizes_[index]) {
    const std::size_t own = job.places[static_cast<std::size_t>(sizes_[index])];
    if (fitting(job, own, 1) == 0) return false;
    take(job, own, 1);
  }
  while (sizes_[index] < size) {
    const std::int64_t wanted = size - sizes_[index];
    const auto server = serverFor(job, wanted);
    if (!server) return false;
    const std::int64_t count = fitting(job, *server, wanted);
    take(job, *server, count);
    added_[index].insert(added_[index].end(), static_cast<std::size_t>(count),
                         static_cast<std::uint32_t>(*server));
    sizes_[index] += static_cast<int>(count);
  }
  return true;
}

bool SizePacking::setSize(std::size_t index, int size) {
  shrinkTo(index, size);
  return growTo(index, size);
}

void SizePacking::restore(std::size_t index, int size, const Added& added) {
  const Job& job = in_.jobs[index];
  shrinkTo(index, job.minimum);
  for (; sizes_[index] < std::min(size, job.present); ++sizes_[index])
    take(job, job.places[static_cast<std::size_t>(sizes_[index])], 1);
  for (const std::uint32_t server : added) take(job, server, 1);
  added_[index] = added;
  sizes_[index] = size;
}

}  // namespace trainyard::core
