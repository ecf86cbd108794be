#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/ledger/ledger.h"

namespace trainyard::core {

// Private to the ledger: counts what one job, its pods and its assigned nodes use, by the rules of ledger.h.
class Ledger::Counter {
 public:
  Counter(Ledger& ledger, Owner& owner) : ledger_(ledger), owner_(owner) {}

  // `pods` are all pods that name the owner's uid.
  void count(const JobPods& pods);

  // Returns the node where a foreign pod uses capacity.
  [[nodiscard]] static std::optional<std::size_t> nodeOfForeignPod(const Ledger& ledger,
                                                                   const model::Pod& pod);

 private:
  struct MemberPod {
    const model::Pod* pod = nullptr;
    std::optional<std::size_t> node;  // the node that it counts on

    [[nodiscard]] auto identity() const {
      return std::tuple(std::string_view(pod->member->role), pod->member->index, pod->member->epoch);
    }
  };
  using Credits = std::map<std::size_t, model::Resources>;

  [[nodiscard]] static std::optional<std::size_t> nodeOf(const Ledger& ledger, const model::Pod& pod,
                                                         const model::Job* job);
  void countAssignments(const model::Job& job);
  void creditReplaced(const model::Proposal& proposal, Credits& credits) const;
  void creditVictims(const model::Proposal& proposal, Credits& credits) const;
  void hold(const model::Job& job, const model::Assignment& assignment, std::int64_t epoch, Credits& credits);
  template <typename Identity>
  [[nodiscard]] bool isFilled(const Identity& identity, std::size_t node) const;
  void add(std::size_t node, NodeHoldings::Entry entry);

  Ledger& ledger_;
  Owner& owner_;
  std::vector<MemberPod> members_;
};

}  // namespace trainyard::core
