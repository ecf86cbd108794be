#include "sim/api/namespace_finalizer.h"

#include <string>
#include <utility>
#include <vector>

#include "sim/api/watch.h"

namespace trainyard::sim {

Outcome<Answer> NamespaceFinalizer::finalize(const RequestInfo& info) {
  std::vector<std::string> duplicates;
  auto document = bodies_.parse(info, duplicates);
  if (!document) return tl::unexpected<Failure>(document.error());
  auto object = bodies_.decode(info, *std::move(document), false, {});
  if (!object) return tl::unexpected<Failure>(object.error());
  const ObjectPtr old = store_.get("namespaces", info.key());
  if (old == nullptr) return failNotFound(info.type->name, info.path.name);
  Json space = *old;
  space["spec"]["finalizers"] = listAt(*object, {"spec", "finalizers"});
  const bool done = space["spec"]["finalizers"].empty() &&
                    listAt(space, {"metadata", "finalizers"}).empty() &&
                    findPath(space, {"metadata", "deletionTimestamp"}) != nullptr;
  if (space["spec"]["finalizers"].empty()) space["spec"].erase("finalizers");
  if (done) return Answer{200, shown(*info.type, *store_.erase("namespaces", info.key()))};
  return Answer{200, shown(*info.type, *store_.put("namespaces", info.key(), std::move(space)))};
}

}  // namespace trainyard::sim
