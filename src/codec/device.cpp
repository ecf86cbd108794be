#include "codec/device.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "codec/decode_object.h"

namespace trainyard::codec {
namespace {

using model::DeviceRequests;

// kube-scheduler makes such a claim for an extended resource that a device class stands for.
constexpr std::string_view kExtendedClaim = "resource.kubernetes.io/extended-resource-claim";
constexpr std::int64_t kMaxDevices = 1'000'000;
constexpr std::int64_t kMaxDevicesOfClaim = 32;  // kube-scheduler gives up a pod that claims more

// "memory" of driver gpu.nvidia.com is "gpu.nvidia.com/memory".
std::string fullName(std::string_view name, std::string_view driver) {
  return name.find('/') == std::string_view::npos ? fmt::format("{}/{}", driver, name) : std::string(name);
}

std::optional<base::Quantity> exactQuantity(std::string_view text) {
  const bool isFine = text.ends_with('n') || text.ends_with('u');
  const auto quantity = base::Quantity::parse(text);
  return quantity && !isFine ? std::optional(*quantity) : std::nullopt;
}

void readAttributes(const Field& map, std::string_view driver, model::Device& device) {
  map.forEachMember([&](std::string_view name, const Field& each) {
    std::string full = fullName(name, driver);
    if (const Field text = each["string"]; text.present()) {
      device.attributes.emplace_back(std::move(full), text.string());
    } else if (const Field number = each["int"]; number.present()) {
      device.attributes.emplace_back(std::move(full), number.integer(0, INT64_MIN, INT64_MAX));
    } else if (const Field flag = each["bool"]; flag.present()) {
      device.attributes.emplace_back(std::move(full), flag.boolean(false));
    } else if (const Field version = each["version"]; version.present()) {
      device.attributes.emplace_back(std::move(full), model::DeviceVersion{version.string()});
    } else {
      device.unreadable = fmt::format("attribute {}: unsupported attribute value", full);
    }
  });
  std::sort(device.attributes.begin(), device.attributes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

model::Device readDevice(const Field& field, std::string_view driver) {
  model::Device device;
  device.name = field["name"].required();
  readAttributes(field["attributes"], driver, device);
  field["capacity"].forEachMember([&](std::string_view name, const Field& each) {
    device.capacity.emplace_back(fullName(name, driver), exactQuantity(each["value"].text()));
  });
  std::sort(device.capacity.begin(), device.capacity.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  field["taints"].forEachElement([&](const Field& each) {
    device.taints.push_back({each["key"].string(), each["value"].string(), each["effect"].string()});
  });
  device.shared = field["allowMultipleAllocations"].boolean(false);
  field["consumesCounters"].forEachElement([&](const Field&) { device.parted = true; });
  return device;
}

model::ResourceSlice readSlice(const Field& root) {
  const Field spec = root["spec"];
  model::ResourceSlice slice;
  slice.name = root["metadata"]["name"].required();
  slice.driver = spec["driver"].text();
  slice.pool = spec["pool"]["name"].text();
  slice.generation = spec["pool"]["generation"].integer(0, INT64_MIN, INT64_MAX);
  slice.slicesOfPool = spec["pool"]["resourceSliceCount"].smallInteger(1, 0);
  slice.node = model::NodeName(spec["nodeName"].text());
  spec["devices"].forEachElement(
      [&](const Field& each) { slice.devices.push_back(readDevice(each, slice.driver)); });
  return slice;
}

std::vector<std::string> readSelectors(const Field& list) {
  std::vector<std::string> selectors;
  list.forEachElement([&](const Field& each) { selectors.push_back(each["cel"]["expression"].string()); });
  return selectors;
}

model::DeviceClass readClass(const Field& root) {
  const Field spec = root["spec"];
  return {.name = std::string(root["metadata"]["name"].required()),
          .selectors = readSelectors(spec["selectors"]),
          .created = root["metadata"]["creationTimestamp"].time().value_or(base::WallTime{}),
          .extendedResource = spec["extendedResourceName"].string()};
}

std::vector<model::DeviceToleration> readTolerations(const Field& list) {
  std::vector<model::DeviceToleration> tolerations;
  list.forEachElement([&](const Field& each) {
    tolerations.push_back({each["key"].string(), each["value"].string(),
                           each["operator"].text("Equal") == "Exists", each["effect"].string()});
  });
  std::sort(tolerations.begin(), tolerations.end());
  return tolerations;
}

// What a count of devices does not describe: the field, and why it cannot be promised.
struct Uncountable {
  std::string_view field;
  std::string_view why;
};
constexpr Uncountable kAlternatives{"firstAvailable",
                                    "which alternative a pod gets is open until it has a node"};
constexpr Uncountable kCapacity{"capacity", "parts of devices are not counted"};
constexpr Uncountable kTooManyDevices{"requests", "a claim can have 32 devices: use several"};
constexpr Uncountable kConstraints{"constraints", "devices that depend on each other are not counted"};

void refuse(DeviceRequests& requests, std::string_view path, const Uncountable& what) {
  if (requests.unsupported.empty())
    requests.unsupported = fmt::format("{}{}: {}", path, what.field, what.why);
}

// What is not counted exactly is counted as much as it can take.
void readExactly(const Field& exactly, const std::string& path, DeviceRequests& into) {
  if (exactly["adminAccess"].boolean(false)) return;  // takes no device from others
  if (exactly["capacity"].present()) refuse(into, path, kCapacity);
  const std::string_view mode = exactly["allocationMode"].text("ExactCount");
  if (mode != "ExactCount" && into.unsupported.empty())
    into.unsupported = fmt::format("{}allocationMode: {} is not counted", path, mode);
  DeviceRequests::Counted counted;
  counted.request = {.deviceClass = exactly["deviceClassName"].string(),
                     .selectors = readSelectors(exactly["selectors"]),
                     .tolerations = readTolerations(exactly["tolerations"])};
  counted.count = mode == "ExactCount" ? exactly["count"].integer(1, 1, kMaxDevices) : kMaxDevices;
  into.counted.push_back(std::move(counted));
}

void readRequest(const Field& field, DeviceRequests& into) {
  const std::string path = fmt::format("devices.requests[{}].", field["name"].text());
  if (field["firstAvailable"].present()) refuse(into, path, kAlternatives);
  field["firstAvailable"].forEachElement([&](const Field& each) { readExactly(each, path, into); });
  if (const Field exactly = field["exactly"]; exactly.present())
    readExactly(exactly, path + "exactly.", into);
}

DeviceRequests readRequests(const Field& devices) {
  DeviceRequests requests;
  devices["requests"].forEachElement([&](const Field& each) { readRequest(each, requests); });
  bool constrained = false;
  devices["constraints"].forEachElement([&](const Field&) { constrained = true; });
  if (constrained) refuse(requests, "devices.", kConstraints);
  std::int64_t all = 0;
  for (const auto& each : requests.counted) all += each.count;
  if (all > kMaxDevicesOfClaim) refuse(requests, "devices.", kTooManyDevices);
  return requests;
}

model::ResourceClaimTemplate readTemplate(const Field& root) {
  const Field meta = root["metadata"];
  return {.key = {meta["namespace"].string(), std::string(meta["name"].required())},
          .requests = readRequests(root["spec"]["spec"]["devices"])};
}

model::ResourceClaim readClaim(const Field& root) {
  const Field meta = root["metadata"];
  model::ResourceClaim claim;
  claim.key = {meta["namespace"].string(), std::string(meta["name"].required())};
  meta["ownerReferences"].forEachElement([&](const Field& each) {
    if (!each["controller"].boolean(false) || each["kind"].text() != "Pod") return;
    claim.pod = each["name"].text();
    claim.podUid = model::Uid(each["uid"].text());
  });
  claim.forExtended = meta["annotations"].value().find(kExtendedClaim).string().has_value();
  const Field allocation = root["status"]["allocation"];
  claim.allocated = allocation.present();
  allocation["devices"]["results"].forEachElement([&](const Field& each) {
    if (each["adminAccess"].boolean(false)) return;
    claim.devices.push_back({each["driver"].string(), each["pool"].string(), each["device"].string()});
  });
  claim.requests = readRequests(root["spec"]["devices"]);
  return claim;
}

}  // namespace

base::Result<model::ResourceSlice> decodeResourceSlice(std::string_view json) {
  return decodeObject("ResourceSlice", json, readSlice, base::OutOfRange::kSaturate);
}

base::Result<model::DeviceClass> decodeDeviceClass(std::string_view json) {
  return decodeObject("DeviceClass", json, readClass);
}

base::Result<model::ResourceClaimTemplate> decodeResourceClaimTemplate(std::string_view json) {
  return decodeObject("ResourceClaimTemplate", json, readTemplate);
}

base::Result<model::ResourceClaim> decodeResourceClaim(std::string_view json) {
  return decodeObject("ResourceClaim", json, readClaim);
}

}  // namespace trainyard::codec
