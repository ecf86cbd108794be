#include "codec/pod_group.h"

#include "codec/decode_object.h"

namespace trainyard::codec {
namespace {

constexpr int kMaxSize = 10'000;

int readSize(const Field& root) {
  const Field policy = root["spec"]["schedulingPolicy"];
  if (!policy["gang"].present()) policy.complain("has no gang: its pods need not start together");
  return policy["gang"]["minCount"].smallInteger(1, 1, kMaxSize);
}

std::string readVersion(const Field& root) {
  std::string found;
  root["versions"].forEachElement([&](const Field& each) {
    const std::string_view version = each["version"].text();
    if (found.empty() && version != "v1") found = version;
  });
  return found;
}

}  // namespace

std::string podGroupOf(const Field& podSpec) { return podSpec["schedulingGroup"]["podGroupName"].string(); }

base::Result<int> sizeOfPodGroup(std::string_view group) { return decodeObject("PodGroup", group, readSize); }

base::Result<std::string> podGroupVersion(std::string_view apiGroup) {
  return decodeObject("APIGroup", apiGroup, readVersion);
}

}  // namespace trainyard::codec
