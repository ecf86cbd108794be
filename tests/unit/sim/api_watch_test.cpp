#include <catch2/catch.hpp>

#include "api_fixture.h"

namespace trainyard::sim {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("a watch from a version replays later events and then continues") {
  ApiFixture api;
  const auto version = textAt(api.post(kMaps, named("a")), {"metadata", "resourceVersion"});
  api.post(kMaps, named("b"));
  Lines events;
  api.watch(kMaps + "?watch=1&resourceVersion=" + version, events);
  CHECK(events == Lines{"ADDED b"});
  api.patch(kMaps + "/a", {{"data", {{"k", "v"}}}});
  api.patch(kMaps + "/a", {{"data", {{"k", "v"}}}});  // changes nothing: no event
  api.remove(kMaps + "/b");
  CHECK(events == Lines{"ADDED b", "MODIFIED a", "DELETED b"});
}

TEST_CASE("an object that leaves the selection is deleted for the watcher and one that enters is added") {
  ApiFixture api;
  Lines events;
  api.watch(kMaps + "?watch=1&labelSelector=x%3D1", events);
  api.post(kMaps, named("a"));
  api.patch(kMaps + "/a", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  api.patch(kMaps + "/a", {{"metadata", {{"labels", {{"x", "2"}}}}}});
  api.remove(kMaps + "/a");
  CHECK(events == Lines{"ADDED a", "DELETED a"});
}

TEST_CASE("a forgotten version gives one error event and the end; open watches do not notice") {
  ApiServerOptions options;
  options.historyLimit = 3;
  ApiFixture api(options);
  const auto version = textAt(api.post(kMaps, named("a")), {"metadata", "resourceVersion"});
  Lines open;
  api.watch(kMaps + "?watch=1&resourceVersion=" + version, open);
  for (const char* name : {"b", "c", "d", "e"}) api.post(kMaps, named(name));
  CHECK(open == Lines{"ADDED b", "ADDED c", "ADDED d", "ADDED e"});
  Lines late;
  api.watch(kMaps + "?watch=1&resourceVersion=" + version, late);
  CHECK(late == Lines{"ERROR 410", "END"});
}

TEST_CASE("pages are of one version; after compaction the token has expired") {
  ApiFixture api;
  for (const char* name : {"a", "b", "c"}) api.post(kMaps, named(name));
  const Json first = api.get(kMaps + "?limit=2");
  CHECK(first["items"].size() == 2);
  CHECK(first["metadata"]["remainingItemCount"] == 1);
  api.remove(kMaps + "/c");
  api.post(kMaps, named("d"));
  const auto token = textAt(first, {"metadata", "continue"});
  const Json second = api.get(kMaps + "?limit=2&continue=" + token);
  REQUIRE(second["items"].size() == 1);
  CHECK(second["items"][0]["metadata"]["name"] == "c");
  api.server->compact();
  CHECK(api.get(kMaps + "?limit=2&continue=" + token)["reason"] == "Expired");
  CHECK(api.code == 410);
}

TEST_CASE("bookmarks are sent to watches that requested them when there is something new") {
  ApiFixture api;
  Lines events;
  api.watch(kMaps + "?watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnone&resourceVersion=" +
                std::to_string(api.server->resourceVersion()),
            events);
  api.server->sendBookmarks();
  CHECK(events.empty());
  api.post(kMaps, named("a"));
  api.server->sendBookmarks();
  api.server->sendBookmarks();
  CHECK(events == Lines{"BOOKMARK "});
}

TEST_CASE("the same seed gives the same uids and another seed gives others") {
  const auto uid = [](std::uint64_t seed) {
    ApiServerOptions options;
    options.seed = seed;
    ApiFixture api(options);
    return textAt(api.post(kMaps, {{"metadata", {{"generateName", "x-"}}}}), {"metadata", "uid"});
  };
  CHECK(uid(1) == uid(1));
  CHECK(uid(1) != uid(2));
}

TEST_CASE("a deeply nested body is refused and not followed") {
  ApiFixture api;
  const std::string deep = "{\"data\":" + std::string(5000, '[') + std::string(5000, ']') + "}";
  const auto response =
      api.server->handle({net::Method::kPost, kMaps, {{"Content-Type", "application/json"}}, deep});
  CHECK(response.status == 400);
}

}  // namespace
}  // namespace trainyard::sim
