#include "codec/pod_requests.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/one_a_node.h"

namespace trainyard::codec {
namespace {

using model::Resources;

// As kube-scheduler's IsScalarResourceName: extended ones, and the native ones that are counted in pieces.
bool isCountedInPieces(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.starts_with("hugepages-") ||
         name.starts_with("attachable-volumes-");
}

bool isPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// Requests of one container; what only has a limit is requested at its limit, as the API server defaults it.
Resources readContainerRequests(const Field& container) {
  Resources sum;
  const Field resources = container["resources"];
  if (!resources.present()) return sum;
  const Field requests = resources["requests"];
  requests.forEachMember(
      [&](std::string_view name, const Field& quantity) { addResource(sum, name, quantity, Rounding::kUp); });
  resources["limits"].forEachMember([&](std::string_view name, const Field& quantity) {
    if (!requests.value().find(name).present()) addResource(sum, name, quantity, Rounding::kUp);
  });
  return sum;
}

Resources readAmounts(const Field& map) {
  Resources amounts;
  map.forEachMember([&](std::string_view name, const Field& quantity) {
    addResource(amounts, name, quantity, Rounding::kUp);
  });
  return amounts;
}

// As kube-scheduler's determineContainerReqs.
Resources readContainer(const Field& container, const NamedFields& reports, bool resizeInfeasible) {
  Resources wanted = readContainerRequests(container);
  if (reports.empty()) return wanted;
  const Field* report = findNamed(reports, container["name"].text());
  if (report == nullptr || !report->value().find("resources").present()) return wanted;
  Resources given = readAmounts((*report)["resources"]["requests"]);
  given.raiseTo(readAmounts((*report)["allocatedResources"]));
  if (!resizeInfeasible) given.raiseTo(wanted);
  return given;
}

Resources readContainersTogether(const Field& podSpec, const ContainerReports& reports) {
  Resources running;
  podSpec["containers"].forEachElement([&](const Field& container) {
    running.add(readContainer(container, reports.regular, reports.resizeInfeasible));
  });

  // Init containers run one after another, each beside the sidecars (restartPolicy Always) started before it.
  Resources sidecars;
  Resources startingUp;
  podSpec["initContainers"].forEachElement([&](const Field& container) {
    if (container["restartPolicy"].text() == "Always") {
      const Resources requests = readContainer(container, reports.init, reports.resizeInfeasible);
      running.add(requests);
      sidecars.add(requests);
      startingUp.raiseTo(sidecars);
    } else {
      Resources together = sidecars;
      together.add(readContainerRequests(container));
      startingUp.raiseTo(together);
    }
  });
  running.raiseTo(startingUp);
  return running;
}

void replaceResource(Resources& into, std::string_view name, const Resources& by) {
  if (name == "cpu") {
    into.cpu = by.cpu;
  } else if (name == "memory") {
    into.memory = by.memory;
  } else {
    into.setExtended(name, by.extended(name));
  }
}

// spec.resources: a request there replaces what the containers add up to. A limit there only fills in for
// what no container requests: that is how the API server defaults it.
void applyPodLevel(const Field& resources, Resources& sum) {
  const Field requests = resources["requests"];
  const auto readOne = [](std::string_view name, const Field& quantity) {
    Resources one;
    addResource(one, name, quantity, Rounding::kUp);
    return one;
  };
  resources["limits"].forEachMember([&](std::string_view name, const Field& quantity) {
    if (!isPodLevelResource(name) || requests.value().find(name).present()) return;
    const Resources one = readOne(name, quantity);
    const bool requested = name == "cpu"      ? sum.cpu.value != 0
                           : name == "memory" ? sum.memory.value != 0
                                              : sum.extended(name) != 0;
    if (!requested) replaceResource(sum, name, one);
  });
  requests.forEachMember([&](std::string_view name, const Field& quantity) {
    if (isPodLevelResource(name)) replaceResource(sum, name, readOne(name, quantity));
  });
}

// As kube-scheduler's GetHostPorts, but for addresses: a port counts on all of them. Each once: a container
// that names one twice has it once.
void addHostPorts(const Field& podSpec, Resources& sum) {
  const bool all = podSpec["hostNetwork"].boolean(false);
  const auto addPorts = [&](const Field& container) {
    container["ports"].forEachElement([&](const Field& port) {
      std::int64_t number = port["hostPort"].integer(0, 0, INT64_MAX);
      // As the API server fills it in.
      if (number == 0 && all) number = port["containerPort"].integer(0, 0, INT64_MAX);
      if (number == 0) return;
      sum.setExtended(fmt::format("{}{}/{}", model::kHostPortPrefix, number, port["protocol"].text("TCP")),
                      1);
    });
  };
  podSpec["containers"].forEachElement(addPorts);
  podSpec["initContainers"].forEachElement([&](const Field& container) {
    if (container["restartPolicy"].text() == "Always") addPorts(container);
  });
}

}  // namespace

void addResource(Resources& into, std::string_view name, const Field& field, Rounding rounding) {
  const base::Quantity quantity = field.quantity();
  if (quantity.milli() < 0) {
    field.refuse("must not be negative");
    return;
  }
  const std::int64_t units =
      rounding == Rounding::kUp ? quantity.unitsRoundedUp() : quantity.unitsRoundedDown();
  Resources one;
  if (name == "cpu") {
    one.cpu.value = quantity.milli();
  } else if (name == "memory") {
    one.memory.value = units;
  } else if (name == "ephemeral-storage") {
    one.ephemeralStorage.value = units;
  } else if (name == "pods") {
    one.pods = units;
  } else if (isCountedInPieces(name)) {
    one.setExtended(name, units);
  }
  into.add(one);
}

Resources readPodRequests(const Field& podSpec, const ContainerReports& reports) {
  Resources sum = readContainersTogether(podSpec, reports);
  if (const Field resources = podSpec["resources"]; resources.present()) applyPodLevel(resources, sum);
  podSpec["overhead"].forEachMember(
      [&](std::string_view name, const Field& quantity) { addResource(sum, name, quantity, Rounding::kUp); });
  sum.pods = 1;
  addHostPorts(podSpec, sum);
  return sum;
}

}  // namespace trainyard::codec
