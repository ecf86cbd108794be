#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/job.h"

namespace trainyard::core {

// What one scheduling leaves to the next: answers that hold as long as no node's room has changed. They
// change no decision. Assumes what Memo assumes.
class ScheduleMemo {
 public:
  using JobPtr = std::shared_ptr<const model::Job>;
  // A shape (core/shape_key.h) and how wide it may be placed.
  using Question = std::pair<std::uint32_t, std::size_t>;

  // First in a cycle: forgets what does not hold for this state of the ledger.
  void begin(std::uint64_t ledgerVersion);
  // Last in a cycle: forgets jobs that are gone.
  void end(std::size_t jobs);
  // Another network: nothing holds any more.
  void clear();

  // The same number for jobs of the same shape; others for others, as long as this lives.
  [[nodiscard]] std::uint32_t shapeOf(const JobPtr& job);

  // Why a shape has no places while nothing has been taken from the ledger in this cycle; nullptr: not known.
  [[nodiscard]] std::shared_ptr<const model::Pending> failure(const Question& question) const;
  void remember(const Question& question, std::shared_ptr<const model::Pending> failure) {
    failures_[question] = std::move(failure);
  }

  // Levels that shapes could have on an empty cluster: tightestAttainable().
  std::map<std::uint32_t, std::size_t> attainable = {};

 private:
  struct Known {
    JobPtr job;
    std::uint32_t shape = 0;
    std::uint64_t used = 0;
  };
  std::uint64_t version_ = 0;
  std::uint64_t round_ = 0;
  std::unordered_map<const model::Job*, Known> jobs_;
  std::unordered_map<std::string, std::uint32_t> shapes_;
  std::map<Question, std::shared_ptr<const model::Pending>> failures_;
};

}  // namespace trainyard::core
