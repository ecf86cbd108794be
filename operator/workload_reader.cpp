#include "operator/workload_reader.h"

#include <utility>

#include "codec/workload.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

constexpr kube::ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "jobsets"};

}  // namespace

void WorkloadReader::read(const model::OwnerKind& kind, const model::ObjectKey& key,
                          std::function<void(const Answer&)> done) {
  using Response = base::Result<kube::ApiResponse>;
  const kube::ResourceType type{kind.group, kind.version, kind.plural};
  api_.get(type.object(key.ns, key.name),
           [this, &kind, key, done = std::move(done), alive = alive_](const Response& own) {
             if (!*alive) return;
             if (!own) return done(base::fail(own.error()));
             api_.get(kJobSets.object(key.ns, key.name),
                      [&kind, done, alive, json = own->body](const Response& jobSet) {
                        if (!*alive) return;
                        if (!jobSet) return done(base::fail(jobSet.error()));
                        done(codec::decodeWorkloadOfJobSet(kind, json, jobSet->body));
                      });
           });
}

}  // namespace trainyard::operator_
