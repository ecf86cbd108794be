#include "kube/cluster_cache.h"

#include <set>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "kube/each_cache.h"

namespace {

using namespace trainyard;
using kube::WriteKind;

class Quiet final : public base::LogSink {
 public:
  void write(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// Objects of these tests consist of their metadata; the name "broken" marks one that cannot be decoded.
template <typename T>
base::Result<T> decodeMetaOnly(std::string_view json) {
  const auto meta = codec::decodeObjectMeta(json);
  if (!meta) return base::fail(meta.error());
  if (json.find("\"broken\":true") != std::string_view::npos) {
    return base::fail(base::ErrorCode::kInvalid, "spec.broken: not understood");
  }
  T out;
  if constexpr (requires { out.key; }) {
    out.key = {meta->ns, meta->name};
    out.resourceVersion = meta->resourceVersion;
    out.uid = model::Uid(meta->uid);
  } else {
    out.name = decltype(out.name)(meta->name);
  }
  return out;
}

std::string object(std::string_view name, std::string_view uid, int version, bool broken = false) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ml","name":"{}","uid":"{}","resourceVersion":"{}"}},"broken":{}}})",
      name, uid, version, broken);
}

struct Fixture {
  Quiet lines;
  base::Logger log{lines, base::LogLevel::kInfo, "cache"};
  kube::ClusterCache cache{{.node = decodeMetaOnly<model::Node>,
                            .pod = decodeMetaOnly<model::Pod>,
                            .job = decodeMetaOnly<model::Job>,
                            .gang = decodeMetaOnly<model::Gang>,
                            .queue = decodeMetaOnly<model::Queue>,
                            .priorityClass = decodeMetaOnly<model::PriorityClass>,
                            .ns = decodeMetaOnly<model::Namespace>},
                           log};
  std::vector<std::string> changes;

  Fixture() {
    const auto name = [](const auto& pod) {
      return pod ? fmt::format("{}#{}@{}", pod->key.name, pod->uid, pod->resourceVersion) : std::string("-");
    };
    cache.pods.onChange([this, name](const auto& before, const auto& after) {
      changes.push_back(name(before) + " > " + name(after));
    });
  }

  void list(const std::vector<std::string>& objects, int version) {
    cache.pods.page(objects, true);
    cache.pods.listed(std::to_string(version));
  }
  std::vector<std::string> take() { return std::exchange(changes, {}); }
  std::string version(std::string_view name) const {
    const auto pod = cache.pods.find({"ml", std::string(name)});
    return pod ? pod->resourceVersion : "";
  }
};

using Changes = std::vector<std::string>;

TEST_CASE("each kind of object that has a decoder is in the list of kinds") {
  // A further decoder does not compile here: count it, and add it to kube/each_cache.h.
  const auto [node, pod, job, gang, queue, priorityClass, ns] = kube::ClusterDecoders{};
  CHECK_FALSE((node || pod || job || gang || queue || priorityClass || ns));
  constexpr std::size_t kDecoders = 7;
  Quiet lines;
  std::set<std::string> paths;
  kube::forEachCache(kube::ClusterCache(base::Logger(lines, base::LogLevel::kInfo, "cache")),
                     [&](const kube::ResourceType& type, const auto&) { paths.insert(type.collection()); });
  CHECK(paths.size() == kDecoders);
}

TEST_CASE("a list counts once it is whole and its pages need not be present together") {
  Fixture f;
  f.list({object("a", "u1", 10), object("z", "u9", 10)}, 10);
  f.take();
  f.cache.pods.page({object("a", "u1", 12)}, true);
  // An interrupted list has no effect.
  f.cache.pods.page({object("b", "u2", 11)}, true);
  CHECK(f.take().empty());
  // A write that is newer than the list.
  CHECK(f.cache.pods.applyWrite(object("b", "u2", 20), WriteKind::kCreate));
  f.cache.pods.page({object("c", "u3", 13)}, false);
  CHECK(f.take() == Changes{"- > b#u2@20"});
  f.cache.pods.listed("13");
  CHECK(f.take() == Changes{"a#u1@10 > -", "- > c#u3@13", "z#u9@10 > -"});
  CHECK(f.version("b") == "20");
}

TEST_CASE("a list replaces the content and reports every difference in order of names") {
  Fixture f;
  f.list({object("b", "u2", 11), object("a", "u1", 10)}, 11);
  CHECK(f.take() == Changes{"- > a#u1@10", "- > b#u2@11"});

  // a vanished, b changed, c is new; d of another incarnation arrives as one change.
  f.list({object("b", "u2", 12), object("c", "u3", 13)}, 13);
  CHECK(f.take() == Changes{"a#u1@10 > -", "b#u2@11 > b#u2@12", "- > c#u3@13"});
  f.list({object("b", "u9", 20), object("c", "u3", 13)}, 20);
  CHECK(f.take() == Changes{"b#u2@12 > b#u9@20"});
}

TEST_CASE("watch events change one object and equal versions are no change") {
  Fixture f;
  f.cache.pods.upsert(object("a", "u1", 10));
  f.cache.pods.upsert(object("a", "u1", 10));
  f.cache.pods.upsert(object("a", "u1", 11));
  f.cache.pods.remove(object("a", "u1", 12));
  f.cache.pods.remove(object("a", "u1", 12));
  CHECK(f.take() == Changes{"- > a#u1@10", "a#u1@10 > a#u1@11", "a#u1@11 > -"});
}

TEST_CASE("a snapshot is sorted and does not change with the cache") {
  Fixture f;
  f.cache.pods.upsert(object("b", "u2", 10));
  f.cache.pods.upsert(object("a", "u1", 11));
  f.cache.nodes.upsert(R"({"metadata":{"name":"n1"}})");
  const auto snapshot = f.cache.snapshot({});
  f.cache.pods.remove(object("a", "u1", 12));
  REQUIRE(snapshot.pods.size() == 2);
  CHECK(snapshot.pods[0]->key.name == "a");
  CHECK(snapshot.nodes.size() == 1);
  CHECK(f.cache.snapshot({}).pods.size() == 1);
}

TEST_CASE("the watch's repetition of a write is recognized without being decoded again") {
  Fixture f;
  f.cache.pods.upsert(object("a", "u1", 10));
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 11)));
  f.cache.pods.upsert(object("a", "u1", 11, true));
  CHECK(f.cache.undecodable() == 0);
  CHECK(f.version("a") == "11");
  // It counts as delivered: an older answer that arrives late is not taken.
  CHECK_FALSE(f.cache.pods.applyWrite(object("b", "u2", 11), WriteKind::kCreate));

  // Skipped only once, and only for the same incarnation in the same version.
  f.cache.pods.upsert(object("a", "u1", 12, true));
  CHECK(f.cache.undecodable() == 1);
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 13)));
  f.cache.pods.upsert(object("a", "u9", 14));
  CHECK(f.version("a") == "14");
  f.take();
}

TEST_CASE("an object that cannot be decoded leaves the known one and is counted and logged") {
  Fixture f;
  f.list({object("a", "u1", 10), object("b", "u2", 11)}, 11);
  f.cache.pods.upsert(object("a", "u1", 12, true));
  CHECK(f.version("a") == "10");
  f.list({object("a", "u1", 12, true), object("b", "u2", 13)}, 13);
  CHECK(f.version("a") == "10");
  CHECK(f.version("b") == "13");
  CHECK(f.cache.undecodable() == 2);
  REQUIRE(f.lines.lines.size() == 2);
  CHECK(f.lines.lines[0].find("spec.broken: not understood") != std::string::npos);

  // Its deletion still counts.
  f.cache.pods.remove(object("a", "u1", 14, true));
  CHECK(f.version("a").empty());
}

TEST_CASE("the answer to an own write is visible at once and the watch does not revert it") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  f.take();
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 15)));
  CHECK(f.take() == Changes{"a#u1@10 > a#u1@15"});
  f.cache.pods.upsert(object("a", "u1", 12));  // was already in flight
  CHECK(f.version("a") == "15");
  f.cache.pods.upsert(object("a", "u1", 15));
  f.cache.pods.upsert(object("a", "u1", 16));
  CHECK(f.take() == Changes{"a#u1@15 > a#u1@16"});
}

TEST_CASE("the answer to a write that the watch has overtaken is ignored") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  f.cache.pods.upsert(object("a", "u1", 20));
  CHECK_FALSE(f.cache.pods.applyWrite(object("a", "u1", 15)));
  CHECK(f.version("a") == "20");

  // Created at 21, deleted at 22 by another client; both seen before the answer arrives.
  f.cache.pods.upsert(object("b", "u2", 21));
  f.cache.pods.remove(object("b", "u2", 22));
  CHECK_FALSE(f.cache.pods.applyWrite(object("b", "u2", 21), WriteKind::kCreate));
  CHECK(f.version("b").empty());
}

TEST_CASE("an update does not restore a deleted object") {
  Fixture f;
  CHECK_FALSE(f.cache.pods.applyWrite(object("a", "u1", 15)));
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 15), WriteKind::kCreate));
  CHECK(f.version("a") == "15");
}

TEST_CASE("the deletion of an earlier incarnation does not remove a newly created one") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  CHECK(f.cache.pods.applyWrite(object("a", "u2", 15), WriteKind::kCreate));
  f.cache.pods.remove(object("a", "u1", 14));
  CHECK(f.version("a") == "15");
  CHECK_FALSE(f.cache.pods.forget({"ml", "a"}, "u1"));
  CHECK(f.cache.pods.forget({"ml", "a"}, "u2"));
  CHECK(f.version("a").empty());
}

TEST_CASE("an object that an own write has ended is not restored by a watch from an older version") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  SECTION("but one that was only not found is") {
    CHECK(f.cache.pods.forget({"ml", "a"}, "u1"));
    f.cache.pods.upsert(object("a", "u1", 12));
    CHECK(f.version("a") == "12");
    return;
  }
  CHECK(f.cache.pods.forgetForGood({"ml", "a"}, "u1"));
  f.cache.pods.upsert(object("a", "u1", 12));
  CHECK(f.version("a").empty());
  CHECK_FALSE(f.cache.pods.applyWrite(object("a", "u1", 13), WriteKind::kCreate));
  SECTION("nor by a list that began before") {
    f.list({object("a", "u1", 12)}, 12);
    CHECK(f.version("a").empty());
    SECTION("but by one after it: a backup was restored") {
      f.list({object("a", "u1", 12)}, 12);
      CHECK(f.version("a") == "12");
    }
  }
  SECTION("and its name is free for others") {
    CHECK(f.cache.pods.applyWrite(object("a", "u2", 14), WriteKind::kCreate));
    CHECK(f.version("a") == "14");
    SECTION("which its late deletion does not touch") {
      f.cache.pods.remove(object("a", "u1", 13));
      CHECK(f.version("a") == "14");
    }
  }
  SECTION("until its deletion is reported") {
    f.cache.pods.remove(object("a", "u1", 13));
    CHECK(f.version("a").empty());
  }
}

TEST_CASE("a list older than an own write keeps the write") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 15)));
  f.list({object("a", "u1", 12)}, 12);
  CHECK(f.version("a") == "15");
  // The next list began later.
  f.list({object("a", "u1", 12)}, 13);
  CHECK(f.version("a") == "12");
}

TEST_CASE("a list older than delivered objects is of a server that went back in time") {
  Fixture f;
  f.list({object("a", "u1", 10), object("c", "u3", 10)}, 20);
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 25)));
  CHECK(f.cache.pods.applyWrite(object("b", "u2", 26), WriteKind::kCreate));
  CHECK(f.cache.pods.forgetForGood({"ml", "c"}, "u3"));
  f.list({object("a", "u1", 10), object("c", "u3", 10)}, 15);
  CHECK(f.version("a") == "10");
  CHECK(f.version("b").empty());
  CHECK(f.version("c") == "10");
}

TEST_CASE("a late list removes nothing that was written after it") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  CHECK(f.cache.pods.applyWrite(object("b", "u2", 15), WriteKind::kCreate));
  f.take();
  SECTION("it is still there") {
    f.list({object("a", "u1", 10)}, 12);
    CHECK(f.take().empty());
    SECTION("and later watch events are older") {
      f.cache.pods.upsert(object("b", "u2", 14));
      CHECK(f.version("b") == "15");
      f.cache.pods.upsert(object("b", "u2", 16));
      CHECK(f.version("b") == "16");
    }
    SECTION("until the watch reports its deletion") {
      f.cache.pods.remove(object("b", "u2", 17));
      CHECK(f.version("b").empty());
    }
    SECTION("but the list after it has begun later: a backup was restored") {
      f.list({object("a", "u1", 10)}, 12);
      CHECK(f.version("b").empty());
    }
  }
  // The newest remaining object gives no hint of the deletion.
  SECTION("a newer list shows its deletion") {
    f.list({object("a", "u1", 10)}, 16);
    CHECK(f.take() == Changes{"b#u2@15 > -"});
    SECTION("and an answer to a write that is older than the list comes late") {
      CHECK_FALSE(f.cache.pods.applyWrite(object("c", "u3", 14), WriteKind::kCreate));
    }
  }
}

// A delayed watch delivers the object as it was before the write, long after its deletion is known.
TEST_CASE("an object that is not found any more is not restored as it was before an own write") {
  Fixture f;
  f.list({object("a", "u1", 10)}, 10);
  CHECK(f.cache.pods.applyWrite(object("a", "u1", 15)));
  CHECK(f.cache.pods.forget({"ml", "a"}, "u1"));
  f.take();
  f.cache.pods.upsert(object("a", "u1", 12));
  CHECK(f.take().empty());
  SECTION("an older list does not restore it either, nor does the watch from there on") {
    f.list({object("a", "u1", 12)}, 12);
    f.cache.pods.upsert(object("a", "u1", 14));
    CHECK(f.take().empty());
    f.list({object("a", "u1", 14)}, 15);
    CHECK(f.take() == Changes{"- > a#u1@14"});
  }
  SECTION("it existed all the time: the written version counts") {
    // Its type may have been temporarily not served: no further event may ever come.
    f.cache.pods.upsert(object("a", "u1", 15));
    CHECK(f.take() == Changes{"- > a#u1@15"});
  }
  SECTION("another object of its name is another one") {
    f.cache.pods.upsert(object("a", "u2", 14));
    CHECK(f.take() == Changes{"- > a#u2@14"});
  }
  SECTION("a backup was restored") {
    f.cache.pods.upsert(object("b", "u2", 20));
    f.list({object("a", "u1", 12)}, 14);
    CHECK(f.version("a") == "12");
  }
  SECTION("its deletion is reported in the end") {
    f.cache.pods.remove(object("a", "u1", 16));
    CHECK(f.take().empty());
  }
}

TEST_CASE("versions that are no numbers are left to the watch") {
  Fixture f;
  CHECK_FALSE(kube::versionNumber("").has_value());
  CHECK_FALSE(kube::versionNumber("12a").has_value());
  CHECK_FALSE(kube::versionNumber("-1").has_value());
  CHECK(kube::versionNumber("18446744073709551615") == 18446744073709551615ull);
  f.cache.pods.upsert(R"({"metadata":{"namespace":"ml","name":"a","uid":"u1","resourceVersion":"x"}})");
  CHECK_FALSE(f.cache.pods.applyWrite(
      R"({"metadata":{"namespace":"ml","name":"a","uid":"u1","resourceVersion":"y"}})"));
  f.cache.pods.upsert(R"({"metadata":{"namespace":"ml","name":"a","uid":"u1","resourceVersion":"z"}})");
  CHECK(f.version("a") == "z");
}

TEST_CASE("a queue's status is taken over and makes no decision stale") {
  Quiet lines;
  kube::ClusterCache cache(base::Logger(lines, base::LogLevel::kInfo, "cache"));
  int stale = 0;
  cache.onAnyChange([&] { ++stale; });
  const auto queue = [](int version, int generation, int waiting) {
    return fmt::format(
        R"({{"metadata":{{"name":"a","uid":"q","resourceVersion":"{}","generation":{}}},"spec":{{}},)"
        R"("status":{{"waiting":{}}}}})",
        version, generation, waiting);
  };
  cache.queues.upsert(queue(10, 1, 0));
  CHECK(stale == 1);
  CHECK(cache.queues.applyWrite(queue(11, 1, 5)));
  cache.queues.upsert(queue(11, 1, 5));
  CHECK(cache.queues.find(model::QueueName("a"))->status.waiting == 5);
  cache.queues.upsert(queue(12, 1, 6));
  CHECK(cache.queues.find(model::QueueName("a"))->resourceVersion == "12");
  CHECK(stale == 1);
  cache.queues.upsert(queue(13, 2, 6));
  CHECK(stale == 2);
  cache.queues.remove(queue(14, 2, 6));
  CHECK(stale == 3);
}

TEST_CASE("a bound pod that cannot be decoded replaces its previous state and counts") {
  Quiet lines;
  kube::ClusterCache cache(base::Logger(lines, base::LogLevel::kInfo, "cache"));
  int reports = 0;
  cache.pods.onUndecodable([&] { ++reports; });
  const auto pod = [](int version, std::string_view spec) {
    return fmt::format(
        R"({{"metadata":{{"namespace":"ml","name":"a","uid":"u1","resourceVersion":"{}"}},"spec":{{{}}}}})",
        version, spec);
  };
  const model::ObjectKey key{"ml", "a"};
  const std::string_view broken = R"("nodeName":"n1","containers":5)";

  // Unbound, it keeps its previous state.
  cache.pods.upsert(pod(10, ""));
  cache.pods.upsert(pod(11, R"("containers":5)"));
  CHECK(cache.pods.find(key)->resourceVersion == "10");
  cache.pods.upsert(pod(12, broken));
  REQUIRE(cache.pods.find(key));
  CHECK(cache.pods.find(key)->node == model::NodeName("n1"));
  CHECK(cache.pods.find(key)->shape.requests.gpus() > 1'000'000);
  CHECK(reports == 2);
  CHECK(lines.lines.back().find("what can be read of it counts") != std::string::npos);

  // In a list, too.
  cache.pods.page({}, true);
  cache.pods.listed("13");
  CHECK_FALSE(cache.pods.find(key));
  cache.pods.page({pod(14, broken)}, true);
  cache.pods.listed("14");
  CHECK(cache.pods.find(key));
  // Its deletion still counts.
  cache.pods.remove(pod(15, broken));
  CHECK_FALSE(cache.pods.find(key));
  CHECK(cache.undecodable() == 3);
}

TEST_CASE("a node that cannot be decoded is not used") {
  Quiet lines;
  kube::ClusterCache cache(base::Logger(lines, base::LogLevel::kInfo, "cache"));
  const auto node = [](std::string_view cpu) {
    return fmt::format(
        R"({{"metadata":{{"name":"n1","uid":"u1"}},"status":{{"allocatable":{{"cpu":{},"pods":"110"}},)"
        R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        cpu);
  };
  const auto takesPods = [&] { return cache.nodes.find(model::NodeName("n1"))->takesPods(); };
  cache.nodes.upsert(node("true"));
  REQUIRE(cache.nodes.find(model::NodeName("n1")));
  CHECK_FALSE(takesPods());
  cache.nodes.upsert(node("\"4\""));
  CHECK(takesPods());
  cache.nodes.upsert(node("true"));
  CHECK_FALSE(takesPods());
  CHECK(cache.nodes.undecodable() == 2);
}

TEST_CASE("namespaces are in the snapshot and only their labels count") {
  Quiet lines;
  kube::ClusterCache cache(base::Logger(lines, base::LogLevel::kInfo, "cache"));
  int stale = 0;
  cache.onAnyChange([&] { ++stale; });
  cache.namespaces.upsert(R"({"metadata":{"name":"ml","uid":"u","labels":{"team":"a"}}})");
  cache.namespaces.upsert(
      R"({"metadata":{"name":"ml","uid":"u","labels":{"team":"a"},"annotations":{"x":"y"}}})");
  CHECK(stale == 1);
  cache.namespaces.upsert(R"({"metadata":{"name":"ml","uid":"u","labels":{"team":"b"}}})");
  CHECK(stale == 2);
  const auto snapshot = cache.snapshot({});
  REQUIRE(snapshot.namespaces.size() == 1);
  CHECK(*snapshot.namespaces[0]->labels.find("team") == "b");
}

}  // namespace
