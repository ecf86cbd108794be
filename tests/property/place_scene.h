#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "support/placing.h"

// Small random clusters with one gang, small enough for brute force.
namespace trainyard::test {

struct SceneNode {
  int gpus = 0;
  int cpu = 0;
  int zone = 0;  // 0: no label
  int rack = 0;
  int usedGpus = 0;
  bool cordoned = false;
  bool pool = false;  // label pool=train
};

struct SceneRole {
  int replicas = 1;
  int gpus = 0;
  int cpu = 0;
  bool pool = false;  // selects pool=train
};

struct Scene {
  std::vector<SceneNode> nodes;
  std::vector<SceneRole> roles;
  std::string required;
};

inline model::Snapshot snapshotOf(const Scene& scene, bool backwards = false) {
  std::vector<std::size_t> order(scene.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (backwards) std::reverse(order.begin(), order.end());
  SnapshotBuilder builder = cluster();
  for (const std::size_t i : order) {
    const SceneNode& each = scene.nodes[i];
    const std::string name = fmt::format("n{}", i);
    NodeBuilder made = node(name).gpus(each.gpus).cpu(each.cpu);
    if (each.zone != 0) made.zone(fmt::format("z{}", each.zone));
    if (each.rack != 0) made.rack(fmt::format("r{}", each.rack));
    if (each.cordoned) made.cordoned();
    if (each.pool) made.label("pool", "train");
    builder.add(made);
    if (each.usedGpus > 0) builder.add(pod(fmt::format("filler/{}", name)).on(name).gpus(each.usedGpus));
  }
  JobBuilder gang = job("x/j");
  for (std::size_t i = 0; i < scene.roles.size(); ++i) {
    const SceneRole& role = scene.roles[i];
    gang.role(fmt::format("role{}", i), role.replicas, requests(role.gpus, role.cpu));
    if (role.pool) gang.select("pool", "train");
  }
  return builder.add(gang.required(scene.required)).build();
}

inline void showValue(const Scene& scene, std::ostream& out) {
  for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
    const SceneNode& n = scene.nodes[i];
    out << fmt::format("n{}: zone {} rack {}, {} gpus ({} used), {} cpu{}{}\n", i, n.zone, n.rack, n.gpus,
                       n.usedGpus, n.cpu, n.cordoned ? ", cordoned" : "", n.pool ? ", pool" : "");
  }
  for (const SceneRole& r : scene.roles) {
    out << fmt::format("role: {} x {} gpus, {} cpu{}\n", r.replicas, r.gpus, r.cpu, r.pool ? ", pool" : "");
  }
  out << "required: \"" << scene.required << "\"\n";
}

}  // namespace trainyard::test

namespace rc {

template <>
struct Arbitrary<trainyard::test::SceneNode> {
  static Gen<trainyard::test::SceneNode> arbitrary() {
    using trainyard::test::SceneNode;
    return gen::build<SceneNode>(
        gen::set(&SceneNode::gpus, gen::weightedElement<int>({{1, 0}, {1, 3}, {2, 4}, {3, 8}})),
        gen::set(&SceneNode::cpu, gen::inRange(1, 16)), gen::set(&SceneNode::zone, gen::inRange(0, 3)),
        gen::set(&SceneNode::rack, gen::inRange(0, 4)),
        gen::set(&SceneNode::usedGpus, gen::weightedElement<int>({{3, 0}, {1, 1}, {1, 4}, {1, 7}})),
        gen::set(&SceneNode::cordoned, gen::weightedElement<bool>({{7, false}, {1, true}})),
        gen::set(&SceneNode::pool, gen::weightedElement<bool>({{1, false}, {2, true}})));
  }
};

template <>
struct Arbitrary<trainyard::test::SceneRole> {
  static Gen<trainyard::test::SceneRole> arbitrary() {
    using trainyard::test::SceneRole;
    return gen::build<SceneRole>(
        gen::set(&SceneRole::replicas, gen::inRange(1, 5)), gen::set(&SceneRole::gpus, gen::inRange(0, 4)),
        gen::set(&SceneRole::cpu, gen::inRange(0, 5)),
        gen::set(&SceneRole::pool, gen::weightedElement<bool>({{3, false}, {1, true}})));
  }
};

template <>
struct Arbitrary<trainyard::test::Scene> {
  static Gen<trainyard::test::Scene> arbitrary() {
    using trainyard::test::Scene;
    const auto upTo = [](auto element, int most) {
      return gen::mapcat(gen::inRange(1, most + 1), [element](int count) {
        return gen::container<std::vector<typename decltype(element)::ValueType>>(
            static_cast<std::size_t>(count), element);
      });
    };
    return gen::build<Scene>(
        gen::set(&Scene::nodes, upTo(gen::arbitrary<trainyard::test::SceneNode>(), 6)),
        gen::set(&Scene::roles, upTo(gen::arbitrary<trainyard::test::SceneRole>(), 3)),
        gen::set(&Scene::required,
                 gen::weightedElement<std::string>({{4, ""}, {1, "zone"}, {2, "rack"}, {1, "node"}})));
  }
};

}  // namespace rc
