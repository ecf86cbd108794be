#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ledger/domains.h"
#include "core/ledger/ledger.h"
#include "core/place/avoided_nodes.h"
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
  AvoidedNodes beyondQuota = {};  // avoided, too
  // Nodes that the job can never use, free or not: their type of GPU is one of which its queue may
  // never have as many as the job would take there.
  const std::vector<model::NodeName>* closed = nullptr;
  // Index into Domains::levels(): no placement is wider than this level (core/place/relaxation.h computes
  // it), nor wider than the job requires. 0, the whole cluster, is no bound.
  std::size_t widest = 0;
  // The requests of the cluster's jobs (core/place/fragmentation.h). Absent:
  // nodes are ranked by free and used capacity only.
  const JobMix* mix = nullptr;
  // Measured costs of shapes. If absent, or without an entry for this gang, fewer nodes are better.
  const std::vector<model::ShapeCost>* shapeCosts = nullptr;
  // A cache of node refusals, which the search also fills; absent: none.
  NodeRefusals* refusals = nullptr;
};

struct Placement {
  std::vector<model::Assignment> assignments;  // sorted by role order, then lowest index
  std::string level;           // tightest level that holds the whole gang: "rack"; "" for none
  std::string domain;          // its path: "zone-a/block-1/rack-3"
  std::size_t levelIndex = 0;  // of `level` in Domains::levels(); 0 for none
};

// Why the gang does not fit, with the numbers that a user needs.
struct PlacementFailure {
  model::PendingReason reason = model::PendingReason::kWaitingForCapacity;
  std::string
      message;  // one sentence: "needs 4 nodes with 8 nvidia.com/gpu each in one rack; best rack … has 3"
  // The shortfall of the first kind that does not fit; node counts only if a member fills a node.
  std::optional<model::Shortfall> shortfall = std::nullopt;
  // The nodes that came closest, to find the blockers: indices into Ledger::nodes() of the best domain's
  // nodes that the template matches; and the resource that is short there ("nvidia.com/gpu", "cpu", …).
  std::vector<std::uint32_t> contested = {};
  std::string scarce = {};
  Blockers blockers = {};
  std::string needs = {};  // the beginning of `message` if it names the gang's needs: "needs 4 nodes …"
};

// Assumes: a gang is useless below its whole size; a tighter domain makes it faster; among domains that
// fit, a busier one is better because the emptier one stays whole. Steps: 1 keep the nodes that every
// member's shape may use; 2 from the tightest level up to the required one or the request's widest,
// whichever is tighter (without either up to the whole cluster), list the domains that hold the whole gang;
// 3 take the one with the fewest free GPUs after it, among those the one with the most GPUs in use; 4
// inside, use as few domains of the next level as possible, down to as few nodes as possible, the fullest
// among equal ones, the remainder again in the tightest domain that holds it; 5 assign indices in topology
// order, so that neighbours in rank are neighbours in the network. Ties: domain path, then node name. Gangs
// without GPUs consider free GPUs first as well (away from GPU nodes), then free cpu. For several kinds of
// members see core/place/packer.h: which parts are exact.
// With a job mix, among equal single nodes the one with the least growth of fragmentation comes
// first, before free GPUs count: small jobs use fragmented nodes, not whole ones, and GPUs are
// not left without cpu. With shape costs, step 4 spreads the GPU members evenly in the cheapest
// listed shape that fits the chosen domain; the table must list this gang, and its members with
// GPUs must be alike. Among nodes that are equal in all this, a gang of several nodes avoids
// those that already host members of another such gang.
// Nodes that a member prefers to avoid (a taint PreferNoSchedule that it does not tolerate, or none of its
// preferred node affinities) are used only if the gang would otherwise be further apart, or not fit.
[[nodiscard]] std::variant<Placement, PlacementFailure> place(const PlaceRequest& request,
                                                              const Ledger& ledger, const Domains& domains);
// As place(), without the failure's message: that costs more than the search.
[[nodiscard]] std::optional<Placement> findPlacement(const PlaceRequest& request, const Ledger& ledger,
                                                     const Domains& domains);
// The result of `find` without all of these nodes, which failed a job's attempts or are suspected;
// else without the later half of them, and so on down to none. A suspected node is better than to wait
// for one that may never come; the back-off grows.
[[nodiscard]] std::optional<Placement> avoidingAsPossible(
    const std::vector<model::NodeName>& failed,
    const std::function<std::optional<Placement>(std::vector<model::NodeName>)>& find);
// Whether the request would fit if nothing ran and every node that its templates
// match were usable. If not, the job can never start.
[[nodiscard]] bool fitsWhenEmpty(const PlaceRequest& request, const Ledger& ledger, const Domains& domains);
// As place(), but builds the Domains for each call, which costs more than placing: for single queries.
[[nodiscard]] std::variant<Placement, PlacementFailure> place(
    const PlaceRequest& request, const Ledger& ledger, const std::vector<model::TopologyLevel>& topology);

}  // namespace trainyard::core
