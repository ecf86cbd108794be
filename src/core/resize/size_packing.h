#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/resize/size_problem.h"

namespace trainyard::core {

// The sizes that a search tries, with the servers of the members that they add. Running members keep their
// servers; a job shrinks from its last member and grows wherever there is free capacity.
class SizePacking {
 public:
  // Bin packing: one way to choose servers may fit members that another does not.
  enum class Way { kMostThenFullest, kFullest, kMostThenEmptiest };
  static constexpr std::array kWays{Way::kMostThenFullest, Way::kFullest, Way::kMostThenEmptiest};

  // The servers of the members beyond the present ones.
  using Added = std::vector<std::uint32_t>;

  // Begins with the present sizes. `work`: the number of servers that may be tried. The problem must outlive
  // this.
  SizePacking(const SizeProblem& problem, std::int64_t work);

  [[nodiscard]] const std::vector<int>& sizes() const { return sizes_; }
  [[nodiscard]] int sizeOf(std::size_t job) const { return sizes_[job]; }
  [[nodiscard]] const Added& addedOf(std::size_t job) const { return added_[job]; }

  [[nodiscard]] bool hasWork() const { return work_ > 0; }
  // One unit of work was done outside of this class.
  void spend() { --work_; }

  void choose(Way way) { way_ = way; }

  // Members that were added leave first, then the job's last members.
  void shrinkTo(std::size_t job, int size);
  // Returns true if the size was reached; else the job keeps as many members as fit.
  bool growTo(std::size_t job, int size);
  bool setSize(std::size_t job, int size);
  // Back to a size with servers that this packing had before. They must be free.
  void restore(std::size_t job, int size, const Added& added);

 private:
  [[nodiscard]] std::int64_t* capacityOf(std::size_t server) { return free_.data() + server * in_.kinds; }
  [[nodiscard]] std::int64_t fitting(const SizeProblem::Job& job, std::size_t server, std::int64_t most);
  void take(const SizeProblem::Job& job, std::size_t server, std::int64_t count);
  [[nodiscard]] std::tuple<std::int64_t, double, std::size_t> rankOf(std::int64_t fits, double left,
                                                                     std::size_t server) const;
  // Returns the first server in the order of the current way.
  [[nodiscard]] std::optional<std::size_t> serverFor(const SizeProblem::Job& job, std::int64_t wanted);

  const SizeProblem& in_;
  std::int64_t work_;
  std::vector<std::int64_t> free_;
  std::vector<int> sizes_;
  std::vector<Added> added_;
  Way way_ = Way::kMostThenFullest;
};

}  // namespace trainyard::core
