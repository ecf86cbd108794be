#include <catch2/catch.hpp>

#include "api_fixture.h"
#include "sim/api/gc.h"

namespace trainyard::sim {
namespace {

Json owned(const std::string& name, const Json& owner, const std::string& uid = "", bool blocks = false) {
  Json object = named(name);
  Json reference = {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", textAt(owner, {"metadata", "name"})}};
  reference["uid"] = uid.empty() ? textAt(owner, {"metadata", "uid"}) : uid;
  if (blocks) reference["blockOwnerDeletion"] = true;
  object["metadata"]["ownerReferences"] = Json::array({reference});
  return object;
}

struct GcFixture : ApiFixture {
  GcFixture() : collector(*server, loop) { settle(); }
  void settle() { loop.runFor(std::chrono::seconds(2)); }
  bool exists(const std::string& name) {
    get(kMaps + "/" + name);
    return code == 200;
  }
  GarbageCollector collector;
};

TEST_CASE("dependents follow their owner later and not within the request") {
  GcFixture api;
  const Json owner = api.post(kMaps, named("owner"));
  const Json child = api.post(kMaps, owned("child", owner));
  api.post(kMaps, owned("grandchild", child));
  api.settle();
  CHECK(api.exists("grandchild"));
  api.remove(kMaps + "/owner");
  CHECK(api.exists("child"));
  api.settle();
  CHECK_FALSE(api.exists("child"));
  CHECK_FALSE(api.exists("grandchild"));
}

TEST_CASE("an owner of another uid is no owner") {
  GcFixture api;
  const Json owner = api.post(kMaps, named("owner"));
  api.post(kMaps, owned("stray", owner, "00000000-0000-4000-8000-000000000000"));
  api.settle();
  CHECK_FALSE(api.exists("stray"));
  CHECK(api.exists("owner"));
}

TEST_CASE("foreground deletion waits for those that block it") {
  GcFixture api;
  const Json owner = api.post(kMaps, named("owner"));
  Json child = owned("child", owner, "", true);
  child["metadata"]["finalizers"] = {"x/hold"};
  api.post(kMaps, child);
  api.remove(kMaps + "/owner", {{"propagationPolicy", "Foreground"}});
  api.settle();
  CHECK(api.exists("owner"));
  CHECK(api.get(kMaps + "/child")["metadata"].contains("deletionTimestamp"));
  api.patch(kMaps + "/child", {{"metadata", {{"finalizers", nullptr}}}});
  api.settle();
  CHECK_FALSE(api.exists("owner"));
}

TEST_CASE("orphans stay without the reference") {
  GcFixture api;
  const Json owner = api.post(kMaps, named("owner"));
  api.post(kMaps, owned("child", owner));
  api.remove(kMaps + "/owner", {{"propagationPolicy", "Orphan"}});
  api.settle();
  CHECK_FALSE(api.exists("owner"));
  CHECK_FALSE(api.get(kMaps + "/child")["metadata"].contains("ownerReferences"));
}

TEST_CASE("a namespace is emptied before it is removed and a new one gets its service account") {
  GcFixture api;
  api.post("/api/v1/namespaces", named("team"));
  api.settle();
  api.get("/api/v1/namespaces/team/serviceaccounts/default");
  CHECK(api.code == 200);
  api.post("/api/v1/namespaces/team/configmaps", named("a"));
  api.remove("/api/v1/namespaces/team");
  api.post("/api/v1/namespaces/team/configmaps", named("late"));
  CHECK(api.code == 403);
  api.settle();
  api.get("/api/v1/namespaces/team");
  CHECK(api.code == 404);
  CHECK(api.loop.idle());
}

}  // namespace
}  // namespace trainyard::sim
