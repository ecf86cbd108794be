#include "kube/paths.h"

#include <fmt/format.h>

namespace trainyard::kube {
namespace {

std::string root(const ResourceType& type) {
  if (type.group.empty()) return fmt::format("/api/{}", type.version);
  return fmt::format("/apis/{}/{}", type.group, type.version);
}

}  // namespace

std::string ResourceType::collection() const { return fmt::format("{}/{}", root(*this), plural); }

std::string ResourceType::collection(std::string_view ns) const {
  if (!namespaced) return collection();
  return fmt::format("{}/namespaces/{}/{}", root(*this), ns, plural);
}

std::string ResourceType::object(std::string_view ns, std::string_view name,
                                 std::string_view subresource) const {
  std::string path = fmt::format("{}/{}", collection(ns), name);
  if (!subresource.empty()) path += fmt::format("/{}", subresource);
  return path;
}

}  // namespace trainyard::kube
