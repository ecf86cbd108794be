#include "sim/cluster/sandbox.h"

#include <thread>

#include <fmt/format.h>

#include "sim/api/json.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/sandbox_script.h"
#include "sim/cluster/sandbox_story.h"

namespace trainyard::sim {
namespace {

constexpr std::chrono::milliseconds kFrame{20};

struct Submission {
  std::string source;
  std::string json;
  std::string kind;
  model::ObjectKey key;
  std::string expected;
};

std::string baseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

base::Result<Submission> readDocument(const std::string& file, const std::string& json, const Json& script,
                                      bool once) {
  auto object = parseJson(json);
  if (!object) return base::fail(object.error().code, fmt::format("{}: {}", file, object.error().message));
  followScript(script, *object);
  Submission one{baseName(file),
                 {},
                 textAt(*object, {"kind"}),
                 {},
                 textAt(*object, {"metadata", "annotations", kExpectAnnotation})};
  const std::string space = textAt(*object, {"metadata", "namespace"});
  one.key = {space.empty() ? "default" : space, textAt(*object, {"metadata", "name"})};
  if (one.kind.empty())
    return base::fail(base::ErrorCode::kInvalid, fmt::format("{}: an object without kind", file));
  if (once && one.kind == "TrainingJob" && one.expected.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{}: {} does not state how it must end (annotation {})", file, one.key.name,
                                  kExpectAnnotation));
  }
  one.json = dumpJson(*object);
  return one;
}

// Returns the objects of each file.
base::Result<std::vector<std::vector<Submission>>> readFiles(const SandboxOptions& options) {
  const auto script = parseScript(options.script.text, options.script.name);
  if (!script) return base::fail(script.error());
  std::vector<std::vector<Submission>> all;
  bool anyJob = false;
  for (const SandboxFile& file : options.files) {
    const auto documents = SimulatedCluster::documents(file.text);
    if (!documents) {
      return base::fail(documents.error().code, fmt::format("{}: {}", file.name, documents.error().message));
    }
    std::vector<Submission> objects;
    for (const std::string& json : *documents) {
      auto one = readDocument(file.name, json, *script, options.once);
      if (!one) return base::fail(one.error());
      anyJob = anyJob || one->kind == "TrainingJob";
      objects.push_back(std::move(*one));
    }
    all.push_back(std::move(objects));
  }
  if (!anyJob) return base::fail(base::ErrorCode::kInvalid, "there is no TrainingJob in the given files");
  return all;
}

// Runs the cluster's time `speed` times as fast as real time.
class Pace {
 public:
  Pace(SimulatedCluster& cluster, double speed)
      : cluster_(cluster),
        speed_(speed),
        began_(std::chrono::steady_clock::now()),
        from_(cluster.loop().now()) {}

  // Runs until `done` is true or the cluster's time reaches `end`.
  void run(const std::function<bool()>& done, base::Instant end) {
    while (!done() && cluster_.loop().now() < end) {
      base::Instant until = end;
      if (speed_ > 0) {
        std::this_thread::sleep_for(kFrame);
        const std::chrono::duration<double, std::micro> here = std::chrono::steady_clock::now() - began_;
        until = std::min(end,
                         from_ + std::chrono::microseconds(static_cast<std::int64_t>(here.count() * speed_)));
      }
      while (!done() && cluster_.step(until)) {
      }
      if (!done()) cluster_.loop().runUntil(std::max(until, cluster_.loop().now()));
    }
  }

 private:
  SimulatedCluster& cluster_;
  double speed_;
  std::chrono::steady_clock::time_point began_;
  base::Instant from_;
};

base::Result<void> submit(SimulatedCluster& cluster, SandboxStory& story,
                          const std::vector<Submission>& objects) {
  for (const Submission& one : objects) {
    if (one.key.ns != "default") {
      (void)cluster.create(
          fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", one.key.ns));
    }
    if (const auto made = cluster.create(one.json); !made) {
      return base::fail(made.error().code, fmt::format("{}: {}", one.source, made.error().message));
    }
    if (one.kind == "TrainingJob") story.submitted(one.key, one.expected, one.source);
  }
  return {};
}

}  // namespace

base::Result<bool> runSandbox(const SandboxOptions& options,
                              const std::function<void(const std::string&)>& print) {
  const auto submissions = readFiles(options);
  if (!submissions) return base::fail(submissions.error());
  auto created = SimulatedCluster::create({.seed = options.seed});
  if (!created) return base::fail(created.error());
  SimulatedCluster& cluster = **created;
  if (auto added = cluster.addNodes(options.nodes, {.gpus = options.gpus}); !added)
    return base::fail(added.error());

  SandboxStory story(cluster.observer(), cluster.loop(), print, options.colours);
  story.printLine("cluster",
                  fmt::format("{} nodes in {} racks, {} GPUs, time x {}", options.nodes,
                              (options.nodes + 3) / 4, options.nodes * options.gpus, options.speed),
                  "1");
  cluster.operators().start();
  Pace pace(cluster, options.speed);
  const auto never = [] { return false; };
  for (const auto& objects : *submissions) {
    pace.run(never, cluster.loop().now() + options.pause);
    if (auto done = submit(cluster, story, objects); !done) return base::fail(done.error());
  }
  const auto settled = [&] { return story.settled(); };
  pace.run(settled, options.once ? cluster.loop().now() + options.timeout : base::Instant::max());
  if (!story.settled())
    story.printLine("sandbox", fmt::format("giving up after {} s", options.timeout.count()), "31");
  const bool good = story.summary();
  for (const std::string& each : cluster.invariants().violations()) print("broken invariant: " + each);
  return !options.once || (good && cluster.invariants().violations().empty());
}

}  // namespace trainyard::sim
