#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/place.h"

namespace trainyard::core {

// A placement request as dense arrays over positions (see Domains), so that the search compares no
// strings. Part of place(); not for use elsewhere.
class PlaceProblem {
 public:
  enum class Capacity {
    kFree,         // free capacity, on nodes that are open now
    kEmpty,        // as if nothing ran and every node that the templates match were usable
    kWithoutJobs,  // as if no TrainingJob held anything, on nodes that are open now; avoids none
  };

  // The native resources are the first dimensions; the extended ones that the gang requests follow, by name.
  static constexpr std::size_t kFixedDimensions = model::kNativeResourceCount;
  enum Dimension : std::size_t { kCpu, kMemory };

  PlaceProblem(const PlaceRequest& request, const Ledger& ledger, const Domains& domains, Capacity capacity);

  // Members with the same constraints and requests. Several roles may share a kind.
  struct Kind {
    const model::PodShape* shape = nullptr;
    std::vector<std::size_t> groups;   // of the request, in its order
    std::int64_t count = 0;            // members
    std::vector<std::int64_t> demand;  // per dimension, of one member
    std::vector<char> open;            // by position: constraints permit it; only set where a member fits
    std::vector<std::int64_t> fits;    // by position: members of this kind alone, at most count
    bool wantsGpus = false;
    bool sendsParameters = false;  // all roles of the kind are parameter servers
  };

  // How busy a range of nodes is; the least free capacity first.
  struct Busyness {
    std::int64_t freeGpus = 0;
    std::int64_t second = 0;  // free cpu for gangs without GPUs, else minus the GPUs in use
    friend auto operator<=>(const Busyness&, const Busyness&) = default;
    Busyness& operator+=(const Busyness& other) {
      freeGpus += other.freeGpus;
      second += other.second;
      return *this;
    }
  };

  [[nodiscard]] const PlaceRequest& request() const { return *request_; }
  [[nodiscard]] const Ledger& ledger() const { return *ledger_; }
  [[nodiscard]] const Domains& domains() const { return *domains_; }
  // Hardest first: most GPUs per member, then most extended resources, cpu, memory.
  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<std::string>& dimensions() const { return dimensions_; }
  // The capacity of the node at `position`: dimensions().size() amounts.
  [[nodiscard]] const std::int64_t* capacityAt(std::size_t position) const {
    return capacity_.data() + position * dimensions_.size();
  }
  [[nodiscard]] const Busyness& busyness(std::size_t position) const { return busyness_[position]; }
  [[nodiscard]] const model::Node& node(std::size_t position) const {
    return *ledger_->nodes()[domains_->nodeAt(position)].node;
  }
  [[nodiscard]] bool avoided(std::size_t position) const { return avoided_[position] != 0; }
  [[nodiscard]] bool closed(std::size_t position) const { return closed_[position] != 0; }

  // How many members of `kind` fit into `capacity`, at most `limit`.
  [[nodiscard]] std::int64_t timesCovered(const Kind& kind, const std::int64_t* capacity,
                                          std::int64_t limit) const;

 private:
  void groupKinds();
  void readCapacity(Capacity capacity);
  void readFits(Capacity capacity);

  const PlaceRequest* request_;
  const Ledger* ledger_;
  const Domains* domains_;
  std::vector<Kind> kinds_;
  std::vector<std::string> dimensions_;
  std::vector<std::int64_t> capacity_;
  std::vector<Busyness> busyness_;
  std::vector<char> avoided_;
  std::vector<char> avoidedWithoutGpus_;
  std::vector<char> closed_;
};

}  // namespace trainyard::core
