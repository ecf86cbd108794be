#include "codec/framework_files.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codec/fnv128.h"
#include "codec/json_writer.h"
#include "codec/owned_object.h"
#include "codec/ssh_files.h"
#include "model/framework_files.h"
#include "model/late_members.h"
#include "model/limits.h"
#include "model/process_group.h"
#include "model/tensorflow_cluster.h"

namespace trainyard::codec {
namespace {

namespace files = model::files;

// Reserved for the files that are not lists, and for " slots=N" of each host.
constexpr std::size_t kFixedBytes = 8'192;
constexpr std::size_t kSlotsBytes = 16;

bool readsCluster(const model::Job& job) {
  return model::traitsOf(job.spec.framework).readsTfConfig && model::announcedMembers(job) > 1;
}

struct HostLists {
  std::string openMpi;
  std::string hydra;
};

HostLists listHosts(const model::Job& job) {
  HostLists lists;
  for (const model::Role* role : model::rankedRoles(job.spec)) {
    const int members = model::announcedMembers(job, *role);
    const std::int64_t slots = model::slotsOf(*role);
    for (int index = 0; index < members; ++index) {
      const std::string host = model::memberHost(job, role->name, index);
      lists.openMpi += fmt::format("{} slots={}\n", host, slots);
      lists.hydra += fmt::format("{}:{}\n", host, slots);
    }
  }
  return lists;
}

}  // namespace

std::string frameworkFilesName(const model::Job& job) {
  Fnv128 hash;
  hash.add(job.uid.str());
  hash.add(job.key.ns);
  // Not the name: the files of running jobs would get other names.
  hash.add(fmt::to_string(static_cast<int>(job.spec.framework)));
  for (const model::Role& role : job.spec.roles) {
    hash.add(role.name);
    hash.add(fmt::to_string(model::announcedMembers(job, role)));
    hash.add(fmt::to_string(model::slotsOf(role)));
  }
  // Another version of this program may write different files.
  for (const auto& [key, text] : sshFiles("")) hash.add(text);
  return fmt::format("{}-files-{}", job.key.name, hash.hex());
}

std::optional<std::string> encodeFrameworkFiles(const model::Job& job) {
  const bool overSsh = model::launchesOverSsh(job);
  if (!overSsh && !readsCluster(job)) return std::nullopt;
  JsonWriter out;
  out.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap");
  writeOwnedMetadata(out, job, frameworkFilesName(job));
  out.memberBool("immutable", true);
  out.key("data").beginObject();
  if (readsCluster(job)) {
    out.member(files::kTensorFlowCluster, fmt::format("{{{}}}", model::tensorFlowCluster(job)));
  }
  if (overSsh) {
    const HostLists hosts = listHosts(job);
    for (const auto& [key, text] : sshFiles(fmt::format("{}.{}.svc", job.key.name, job.key.ns)))
      out.member(key, text);
    out.member(files::kHostfile, hosts.openMpi);
    if (kFixedBytes + hosts.openMpi.size() + hosts.hydra.size() <= model::limits::kConfigMapBytes)
      out.member(files::kHydraHosts, hosts.hydra);
  }
  out.endObject().endObject();
  return std::move(out).take();
}

std::size_t hostfileBytes(std::size_t members, std::size_t longestHost) {
  return kFixedBytes + members * (longestHost + kSlotsBytes);
}

}  // namespace trainyard::codec
