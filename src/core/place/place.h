#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/blockers.h"
#include "model/gang.h"
#include "model/job.h"
#include "model/policy.h"
#include "model/reasons.h"

namespace trainyard::core {

class JobMix;
class NodeRefusals;

struct PlaceRequest {
  const model::Job* job = nullptr;
  // Members to place: role, index, in the order of roles and indices; usually the whole gang.
  struct Group {
    const model::Role* role = nullptr;
    model::IndexSet indices;
  };
  std::vector<Group> groups;
  std::vector<model::NodeName> avoidNodes;
  // Nodes that are none for it, free or not: of types of GPU of which its queue may never have as many as it
  // would take there.
  const std::vector<model::NodeName>* closed = nullptr;
  // Index into Domains::levels(): never wider than this level, besides what the job requires
  // (core/place/relaxation.h says which will do now). 0, the whole cluster, is no bound.
  std::size_t widest = 0;
  // What the jobs of the cluster ask for (core/place/fragmentation.h). Absent: nodes are told apart by what
  // is free and in use alone.
  const JobMix* mix = nullptr;
  // Measured costs of shapes. Absent, or silent about this gang: fewer nodes are better.
  const std::vector<model::ShapeCost>* shapeCosts = nullptr;
  // What is known of the ledger's nodes, which it learns from; absent: nothing.
  NodeRefusals* refusals = nullptr;
};

struct Placement {
  std::vector<model::Assignment> assignments;  // sorted by role order, then lowest index
  std::string level;           // tightest level that holds the whole gang: "rack"; "" for none
  std::string domain;          // its path: "zone-a/block-1/rack-3"
  std::size_t levelIndex = 0;  // of `level` in Domains::levels(); 0 for none
};

// Why nothing fits, with the numbers that a user needs.
struct PlacementFailure {
  model::PendingReason reason = model::PendingReason::kWaitingForCapacity;
  std::string
      message;  // one sentence: "needs 4 nodes with 8 nvidia.com/gpu each in one rack; best rack … has 3"
  // What is missing of the first kind of members that is short; node counts only where a member fills a node.
  std::optional<model::Shortfall> shortfall = std::nullopt;
  // Where it came closest, for naming who is in the way: indices into Ledger::nodes() of the best domain's
  // nodes that the template matches, and the resource that is missing there ("nvidia.com/gpu", "cpu", …).
  std::vector<std::uint32_t> contested = {};
  std::string scarce = {};
  Blockers blockers = {};
  std::string needs = {};  // what `message` begins with where it tells what the gang needs: "needs 4 nodes …"
};

// Assumes: a gang is useless below its whole size; a tighter domain is faster for it; a busier domain that
// still fits is the better one, as it leaves the emptier whole. Steps: 1 keep the nodes that every member's
// shape may use; 2 from the tightest level up to the required one or the request's widest, whichever is
// tighter (without either up to the whole cluster), list the domains that hold the whole gang; 3 take the one
// with the least free GPUs after it, of several the one with the most GPUs in use; 4 inside, use as few
// domains of the next level as possible, down to as few nodes as possible, the fullest of those that serve
// alike, the remainder again in the tightest domain that holds it; 5 hand out indices in topology order, so
// that neighbours in rank are neighbours in the network. Ties: domain path, then node name. Gangs without
// GPUs look at free GPUs first as well (away from GPU nodes), then at free cpu. Several kinds of members: see
// core/place/pack.h for what is exact.
// With a job mix, of single nodes that serve alike the one is taken where fragmentation grows least, before
// free GPUs are looked at: small jobs go onto broken nodes, not onto whole ones, and GPUs are not left behind
// without the cpu to feed them. With shape costs, the GPU members of step 4 are spread evenly in the cheapest
// listed shape for which the chosen domain has the places, where the table lists this gang and its members
// with GPUs are alike. Among nodes that are equal in all this, a gang of several nodes stays away from those
// that already host members of another such gang.
// Nodes that a member would rather leave (a taint PreferNoSchedule that it does not tolerate, or none of its
// preferred node affinities) are used only where the gang would lie further apart without them, or nowhere.
[[nodiscard]] std::variant<Placement, PlacementFailure> place(const PlaceRequest& request,
                                                              const Ledger& ledger, const Domains& domains);
// The same without words: they cost more than the search where nothing fits.
[[nodiscard]] std::optional<Placement> findPlaces(const PlaceRequest& request, const Ledger& ledger,
                                                  const Domains& domains);
// What `find` finds without all of these nodes, which failed a job's attempts or are suspected, without the
// later half of them, and so on to without none. Better such a node than to wait for one that may never come;
// the back-off grows.
[[nodiscard]] std::optional<Placement> avoidingAsPossible(
    const std::vector<model::NodeName>& failed,
    const std::function<std::optional<Placement>(std::vector<model::NodeName>)>& find);
// Whether it would find places if nothing ran and every node that its templates match were back: one that
// would not can never start.
[[nodiscard]] bool fitsWhenEmpty(const PlaceRequest& request, const Ledger& ledger, const Domains& domains);
// As place(); builds the Domains anew, which costs more than placing: for one-off questions.
[[nodiscard]] std::variant<Placement, PlacementFailure> place(
    const PlaceRequest& request, const Ledger& ledger, const std::vector<model::TopologyLevel>& topology);

}  // namespace trainyard::core
