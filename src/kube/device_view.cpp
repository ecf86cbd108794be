#include "kube/device_view.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/gpu_resources.h"

namespace trainyard::kube {
namespace {

// A cluster that is upgraded serves the kinds only then.
constexpr std::chrono::seconds kLookForKinds{30};

bool claimsDevices(const model::Pod& pod) { return !pod.shape.deviceClaims.empty() && !pod.finished(); }

bool asksAlike(const model::Job& a, const model::Job& b) {
  return a.deviceProblem == b.deviceProblem &&
         std::equal(
             a.spec.roles.begin(), a.spec.roles.end(), b.spec.roles.begin(), b.spec.roles.end(),
             [](const model::Role& x, const model::Role& y) { return x.shape.requests == y.shape.requests; });
}

// Drops what is shown for objects that are not used elsewhere any more.
template <typename ShownBy>
void dropUnused(ShownBy& shown) {
  std::erase_if(shown, [](const auto& each) { return each.second.from.use_count() == 1; });
}

}  // namespace

DeviceView::DeviceView(ClusterCache& cluster, const base::Logger& log, std::function<void()> changed)
    : cluster_(cluster),
      log_(log),
      changed_(changed),
      caches_(log),
      uses_(cluster),
      loose_(cluster, caches_.claims, changed) {
  const auto any = [this, changed](const auto&, const auto&) {
    uses_.claimsChanged();
    ++basis_;
    changed();
  };
  caches_.slices.onChange(any);
  caches_.classes.onChange(any);
  caches_.templates.onChange(any);
  caches_.claims.onChange([this, changed](const ClaimPtr& before, const ClaimPtr& after) {
    claimChanged(before, after);
    changed();
  });
}

void DeviceView::start(ApiClient& api, base::Executor& executor, base::Rng& rng) {
  loose_.start(executor);
  reflectors_.clear();
  const auto watch = [&](const ResourceType& type, ReflectorSink& sink, const base::Logger& log) {
    reflectors_.push_back(std::make_unique<Reflector>(
        ReflectorOptions{.type = type, .mayBeAbsent = true, .maxDelay = kLookForKinds}, api, executor,
        rng.split(), log, sink));
    reflectors_.back()->start();
  };
  watch(kResourceSlices, caches_.slices, log_);
  watch(kDeviceClasses, caches_.classes, log_);
  watch(kResourceClaimTemplates, caches_.templates, log_);
  watch(kResourceClaims, caches_.claims, log_);
}

bool DeviceView::isServed() const {
  return std::none_of(reflectors_.begin(), reflectors_.end(),
                      [](const auto& each) { return each->absent(); });
}

bool DeviceView::settled() const {
  return !reflectors_.empty() && std::all_of(reflectors_.begin(), reflectors_.end(), [](const auto& each) {
    return each->synced() || each->absent();
  });
}

base::Instant DeviceView::lastHeard(base::Instant now) const {
  base::Instant last = now;
  for (const auto& each : reflectors_) {
    if (!each->absent()) last = std::min(last, each->lastHeard());
  }
  return last;
}

void DeviceView::claimChanged(const ClaimPtr& before, const ClaimPtr& after) {
  const ClaimPtr& claim = after ? after : before;
  if (claim->podUid.empty()) ++basis_;
  for (const ClaimPtr& each : {before, after}) {
    if (!each) continue;
    if (const PodPtr pod = cluster_.pods.find({each->key.ns, each->pod})) shown_.pods.erase(pod.get());
  }
  const bool wasOpen = before && !before->allocated;
  const bool isOpen = after && !after->allocated;
  if (wasOpen != isOpen) uses_.claimsChanged();
}

void DeviceView::overlay(model::Snapshot& snapshot) {
  refreshFacts();
  if (!facts_) return;
  overlayNodes(snapshot);
  overlayPods(snapshot);
}

void DeviceView::refreshFacts() {
  model::Devices objects = caches_.all();
  if (objects.classes.empty() && objects.claims.empty() && uses_.jobs().empty() && !uses_.anyPods()) {
    facts_ = nullptr;
    return;
  }
  const auto& requests = uses_.requests(objects);
  const bool isStale = !facts_ || !facts_->catalog->complete() || facts_->catalog->requests() != requests ||
                       !objects.slices.isSameAs(facts_->objects.slices) ||
                       !objects.classes.isSameAs(facts_->objects.classes);
  if (isStale) ++basis_;
  const bool isSame = !isStale && objects.claims.isSameAs(facts_->objects.claims) &&
                      objects.templates.isSameAs(facts_->objects.templates) && facts_->isServed == isServed();
  if (isSame) return;
  auto catalog =
      isStale ? std::make_shared<const devices::Catalog>(objects, requests, model::gpuResources(), matches_)
              : facts_->catalog;
  if (!catalog->complete()) changed_();  // the next snapshot shows more of them
  facts_ = std::make_shared<const devices::DeviceFacts>(
      devices::DeviceFacts{std::move(objects), std::move(catalog), isServed()});
}

void DeviceView::overlayNodes(model::Snapshot& snapshot) {
  const devices::Catalog& catalog = *facts_->catalog;
  if (catalog.offered().empty()) return;
  const auto loose = loose_.held(catalog);
  dropUnused(shown_.nodes);
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
    const NodePtr node = snapshot.nodes[i];
    const auto offered = catalog.offered().find(node->name);
    const model::Resources& more =
        offered == catalog.offered().end() ? catalog.offeredEverywhere() : offered->second;
    if (more.extendedAll().empty()) continue;
    model::Resources allocatable = node->allocatable;
    for (const auto& [name, amount] : more.extendedAll()) {
      // A node whose device plugin offers a resource serves it from there alone.
      if (node->allocatable.extended(name) == 0) allocatable.setExtended(name, amount);
    }
    if (const auto held = loose.find(node->name); held != loose.end()) {
      for (const auto& [name, amount] : held->second.extendedAll()) {
        if (node->allocatable.extended(name) == 0)
          allocatable.setExtended(name, allocatable.extended(name) - amount);
      }
    }
    Shown<model::Node>& known = shown_.nodes[node.get()];
    if (!known.to || known.to->allocatable != allocatable) {
      auto copy = std::make_shared<model::Node>(*node);
      copy->allocatable = std::move(allocatable);
      known = {node, std::move(copy)};
    }
    snapshot.nodes.edit()[i] = known.to;
  }
}

void DeviceView::overlayPods(model::Snapshot& snapshot) {
  const bool beside = facts_->catalog->hasBeside();
  if (!uses_.anyPods() && !beside) return;
  dropUnused(shown_.pods);
  for (std::size_t i = 0; i < snapshot.pods.size(); ++i) {
    const PodPtr pod = snapshot.pods[i];
    if (!claimsDevices(*pod) && (!beside || pod->bound() || pod->finished())) continue;
    Shown<model::Pod>& known = shown_.pods[pod.get()];
    if (known.basis != basis_) {
      PodPtr now = withDevices(pod);
      const bool same = known.to && now && known.to->shape.requests == now->shape.requests;
      known = {pod, same ? known.to : std::move(now), basis_};
    }
    if (known.to) snapshot.pods.edit()[i] = known.to;
  }
}

DeviceView::PodPtr DeviceView::withDevices(const PodPtr& pod) const {
  model::Resources more = pod->bound()
                              ? devices::heldBy(*pod, *facts_)
                              : devices::askedBy(pod->shape.deviceClaims, pod->key.ns, *facts_).amount;
  if (!pod->bound()) more.add(devices::takenBeside(pod->shape.requests, *facts_->catalog));
  if (more.extendedAll().empty()) return nullptr;
  auto copy = std::make_shared<model::Pod>(*pod);
  copy->shape.requests.add(more);
  return copy;
}

void DeviceView::overlayJobs(model::Snapshot& snapshot) {
  if (!facts_) return;
  dropUnused(shown_.jobs);
  const auto show = [&](std::size_t at) {
    const JobPtr job = snapshot.jobs[at];
    Shown<model::Job>& known = shown_.jobs[job.get()];
    if (known.basis != basis_) {
      JobPtr now = withDevices(job);
      known = {job, known.to && now && asksAlike(*known.to, *now) ? known.to : std::move(now), basis_};
    }
    if (known.to) snapshot.jobs.edit()[at] = known.to;
  };
  if (facts_->catalog->hasBeside()) {
    for (std::size_t at = 0; at < snapshot.jobs.size(); ++at) show(at);
    return;
  }
  for (const model::ObjectKey& key : uses_.jobs()) {
    if (const std::size_t at = snapshot.jobs.positionOf(key); at != snapshot.jobs.size()) show(at);
  }
}

DeviceView::JobPtr DeviceView::withDevices(const JobPtr& job) const {
  if (job->finished()) return nullptr;
  auto copy = std::make_shared<model::Job>(*job);
  for (model::Role& role : copy->spec.roles) {
    const auto asked = devices::askedBy(role.shape.deviceClaims, job->key.ns, *facts_);
    if (copy->deviceProblem.empty() && !asked.problem.empty())
      copy->deviceProblem = "spec.roles[" + role.name + "].template: " + asked.problem;
    model::Resources more = devices::takenBeside(role.shape.requests, *facts_->catalog);
    more.add(asked.amount);
    role.shape.requests.add(more);
  }
  return asksAlike(*copy, *job) ? nullptr : JobPtr(std::move(copy));
}

}  // namespace trainyard::kube
