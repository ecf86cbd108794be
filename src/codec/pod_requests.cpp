#include "codec/pod_requests.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/gpu_resources.h"
#include "model/one_per_node.h"

namespace trainyard::codec {
namespace {

using model::Resources;

// As kube-scheduler's IsScalarResourceName: extended resources and the native ones counted in pieces.
bool isCountedInPieces(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.starts_with("hugepages-") ||
         name.starts_with("attachable-volumes-");
}

// Exclusive amounts of a node have reserved names (model/one_per_node.h), which users may not request.
bool isCounted(std::string_view name, CountedNames& names) {
  if (model::isOnePerNode(name)) return false;
  return model::nativeUnit(name) || (isCountedInPieces(name) && names.take(name));
}

bool isPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// Reads one pod. Names are counted in the order in which the amounts are read.
class RequestsReader {
 public:
  RequestsReader(const ContainerReports& reports, CountedNames& names) : reports_(reports), names_(names) {}

  [[nodiscard]] Resources containersTogether(const Field& podSpec) {
    Resources running;
    podSpec["containers"].forEachElement(
        [&](const Field& container) { running.add(given(container, reports_.regular)); });

    // Init containers run one after another, each together with the sidecars (restartPolicy Always) that
    // started before it.
    Resources sidecars;
    Resources startingUp;
    podSpec["initContainers"].forEachElement([&](const Field& container) {
      if (container["restartPolicy"].text() == "Always") {
        const Resources requests = given(container, reports_.init);
        running.add(requests);
        sidecars.add(requests);
        startingUp.raiseTo(sidecars);
      } else {
        Resources together = sidecars;
        together.add(wanted(container));
        startingUp.raiseTo(together);
      }
    });
    running.raiseTo(startingUp);
    return running;
  }

 private:
  void add(Resources& into, std::string_view name, const Field& quantity) {
    addResource(into, name, quantity, Rounding::kUp, names_);
  }

  // The requests of one container. A resource with a limit only is requested at its limit, as the API server
  // defaults it.
  [[nodiscard]] Resources wanted(const Field& container) {
    Resources sum;
    const Field resources = container["resources"];
    if (!resources.present()) return sum;
    const Field requests = resources["requests"];
    requests.forEachMember([&](std::string_view name, const Field& quantity) { add(sum, name, quantity); });
    resources["limits"].forEachMember([&](std::string_view name, const Field& quantity) {
      // isCounted() goes first: looking up every name would take quadratic time in the number of names.
      if (isCounted(name, names_) && !requests.value().find(name).present()) add(sum, name, quantity);
    });
    return sum;
  }

  [[nodiscard]] Resources amounts(const Field& map) {
    Resources all;
    map.forEachMember([&](std::string_view name, const Field& quantity) { add(all, name, quantity); });
    return all;
  }

  // As kube-scheduler's determineContainerReqs.
  [[nodiscard]] Resources given(const Field& container, const NamedFields& reports) {
    Resources asked = wanted(container);
    if (reports.empty()) return asked;
    const Field* report = findNamed(reports, container["name"].text());
    if (report == nullptr || !report->value().find("resources").present()) return asked;
    Resources sum = amounts((*report)["resources"]["requests"]);
    sum.raiseTo(amounts((*report)["allocatedResources"]));
    if (!reports_.resizeInfeasible) sum.raiseTo(asked);
    return sum;
  }

  const ContainerReports& reports_;
  CountedNames& names_;
};

// Applies spec.resources: a request there replaces the sum of the containers. A limit there only fills in for
// a resource that no container requests, as the API server defaults it.
void applyPodLevel(const Field& resources, CountedNames& names, Resources& sum) {
  const Field requests = resources["requests"];
  const auto readOne = [&](std::string_view name, const Field& quantity) {
    Resources one;
    addResource(one, name, quantity, Rounding::kUp, names);
    return one.amount(name);
  };
  resources["limits"].forEachMember([&](std::string_view name, const Field& quantity) {
    if (!isPodLevelResource(name) || !isCounted(name, names) || requests.value().find(name).present()) return;
    const std::int64_t limit = readOne(name, quantity);
    if (sum.amount(name) == 0) sum.setAmount(name, limit);
  });
  requests.forEachMember([&](std::string_view name, const Field& quantity) {
    if (isPodLevelResource(name) && isCounted(name, names)) sum.setAmount(name, readOne(name, quantity));
  });
}

// As kube-scheduler's GetHostPorts, except for addresses: a port counts on all of them. A port counts once,
// even if a container names it twice.
void addHostPorts(const Field& podSpec, CountedNames& names, Resources& sum) {
  const bool all = podSpec["hostNetwork"].boolean(false);
  const auto addPorts = [&](const Field& container) {
    container["ports"].forEachElement([&](const Field& port) {
      std::int64_t number = port["hostPort"].integer(0, 0, INT64_MAX);
      // As the API server defaults it.
      if (number == 0 && all) number = port["containerPort"].integer(0, 0, INT64_MAX);
      if (number == 0) return;
      const std::string name =
          fmt::format("{}{}/{}", model::kHostPortPrefix, number, port["protocol"].text("TCP"));
      if (names.take(name)) sum.setExtended(name, 1);
    });
  };
  podSpec["containers"].forEachElement(addPorts);
  podSpec["initContainers"].forEachElement([&](const Field& container) {
    if (container["restartPolicy"].text() == "Always") addPorts(container);
  });
}

}  // namespace

void addResource(Resources& into, std::string_view name, const Field& field, Rounding rounding,
                 CountedNames& names) {
  if (!isCounted(name, names)) return;
  const base::Quantity quantity = field.quantity();
  if (quantity.milli() < 0) {
    field.refuse("must not be negative");
    return;
  }
  const std::int64_t units =
      rounding == Rounding::kUp ? quantity.unitsRoundedUp() : quantity.unitsRoundedDown();
  const bool inMillicores = model::nativeUnit(name) == model::ResourceUnit::kMillicores;
  const std::int64_t amount = inMillicores ? quantity.milli() : units;
  Resources one;
  one.setAmount(name, field.saturates() ? std::min(amount, kLargestAmount) : amount);
  into.add(one);
}

Resources readPodRequests(const Field& podSpec, const ContainerReports& reports, CountedNames& names) {
  Resources sum = RequestsReader(reports, names).containersTogether(podSpec);
  if (const Field resources = podSpec["resources"]; resources.present()) applyPodLevel(resources, names, sum);
  podSpec["overhead"].forEachMember([&](std::string_view name, const Field& quantity) {
    addResource(sum, name, quantity, Rounding::kUp, names);
  });
  sum.pods = 1;
  addHostPorts(podSpec, names, sum);
  return sum;
}

Resources wholeNode() {
  Resources all;
  model::forEachNative([&](const auto& native) { native.in(all) = kLargestAmount; });
  for (const std::string& name : model::gpuResources()) all.setExtended(name, kLargestAmount);
  return all;
}

}  // namespace trainyard::codec
