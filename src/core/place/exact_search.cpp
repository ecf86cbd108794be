#include "core/place/exact_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trainyard::core {

ExactSearch::ExactSearch(const PlaceProblem& problem, Domains::Range range)
    : problem_(problem), range_(range), capacity_(problem, range) {
  order_.resize(problem.kinds().size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return problem.kinds()[a].count < problem.kinds()[b].count;
  });
}

std::optional<Packing> ExactSearch::run(std::int64_t& budget) {
  if (!countStates(budget)) return std::nullopt;
  best_.assign(states_, -1);
  best_[0] = 0;
  for (std::size_t offset = 0; offset < range_.end - range_.begin; ++offset) {
    std::vector<Option> options = optionsAt(offset, budget);
    if (options.empty()) continue;
    budget -= static_cast<std::int64_t>(states_ * options.size());
    if (budget < 0) return std::nullopt;
    advance(options);
    rounds_.push_back({offset, std::move(options)});
    if (best_.back() >= kind(order_.size() - 1).count) return trace();
  }
  return std::nullopt;
}

bool ExactSearch::countStates(std::int64_t budget) {
  states_ = 1;
  for (std::size_t rank = 0; rank + 1 < order_.size(); ++rank) {
    strides_.push_back(states_);
    const auto digits = static_cast<std::size_t>(kind(rank).count) + 1;
    if (digits > static_cast<std::size_t>(budget) / states_) return false;
    states_ *= digits;
  }
  return true;
}

std::vector<ExactSearch::Option> ExactSearch::optionsAt(std::size_t offset, std::int64_t& budget) {
  std::vector<Option> options;
  Option current{std::vector<std::int64_t>(strides_.size(), 0), 0, 0};
  collect(offset, 0, current, options, budget);
  // No member of any kind fits: the node is skipped.
  if (options.size() == 1 && options.front().last == 0) options.clear();
  return options;
}

void ExactSearch::collect(std::size_t offset, std::size_t rank, Option& current, std::vector<Option>& options,
                          std::int64_t& budget) {
  if (--budget < 0) return;
  if (rank == strides_.size()) {
    current.last = capacity_.fits(kind(rank), offset, kind(rank).count);
    options.push_back(current);
    return;
  }
  const std::int64_t most = capacity_.fits(kind(rank), offset, kind(rank).count);
  for (std::int64_t count = 0; count <= most; ++count) {
    current.counts[rank] = count;
    capacity_.take(kind(rank), offset, count);
    collect(offset, rank + 1, current, options, budget);
    capacity_.take(kind(rank), offset, -count);
  }
  current.counts[rank] = 0;
}

void ExactSearch::advance(std::vector<Option>& options) {
  for (Option& option : options) {
    for (std::size_t rank = 0; rank < strides_.size(); ++rank) {
      option.step += static_cast<std::size_t>(option.counts[rank]) * strides_[rank];
    }
  }
  std::vector<std::int64_t> next(states_, -1);
  std::vector<std::uint32_t> chosen(states_, kKeep);
  for (std::size_t state = 0; state < states_; ++state) {
    if (best_[state] < 0) continue;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (!staysWithinNeed(state, options[i])) continue;
      const std::size_t to = state + options[i].step;
      const std::int64_t value = best_[state] + options[i].last;
      if (value <= next[to]) continue;
      next[to] = value;
      chosen[to] = static_cast<std::uint32_t>(i);
    }
  }
  best_ = std::move(next);
  chosen_.push_back(std::move(chosen));
}

bool ExactSearch::staysWithinNeed(std::size_t state, const Option& option) const {
  for (std::size_t rank = 0; rank < strides_.size(); ++rank) {
    const auto digits = static_cast<std::size_t>(kind(rank).count) + 1;
    const std::size_t placed = state / strides_[rank] % digits;
    if (placed + static_cast<std::size_t>(option.counts[rank]) >= digits) return false;
  }
  return true;
}

Packing ExactSearch::trace() const {
  Packing packing(order_.size(), std::vector<std::int64_t>(range_.end - range_.begin, 0));
  std::size_t state = states_ - 1;
  std::int64_t lastLeft = kind(order_.size() - 1).count;
  for (std::size_t round = rounds_.size(); round-- > 0;) {
    const Option& option = rounds_[round].options[chosen_[round][state]];
    for (std::size_t rank = 0; rank < strides_.size(); ++rank) {
      packing[order_[rank]][rounds_[round].offset] = option.counts[rank];
    }
    const std::int64_t last = std::min(option.last, lastLeft);
    packing[order_.back()][rounds_[round].offset] = last;
    lastLeft -= last;
    state -= option.step;
  }
  return packing;
}

}  // namespace trainyard::core
