#include "replay/papers/openb.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "replay/engine/text.h"
#include "replay/papers/openb_published.h"
#include "replay/run.h"

using namespace trainyard::replay;  // NOLINT(google-build-using-namespace): test
using trainyard::core::kWholeDevice;

namespace {

const std::string kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n2,64000,262144,2,T4\n"
    "n1,96000,393216,8,V100\n"
    "n3,32000,65536,0,\n";
const std::string kPodHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n";

trainyard::base::Result<OpenbTrace> read(const std::string& pods, const std::string& nodes = kNodes) {
  return readOpenb("nodes.csv", nodes, "pods.csv", kPodHeader + pods);
}

std::string errorOf(const std::string& pods, const std::string& nodes = kNodes) {
  const auto trace = read(pods, nodes);
  return trace ? "fine" : trace.error().message;
}

std::string fileText(const std::string& name) {
  std::ifstream file(std::string(TRAINYARD_TRACES) + "/openb/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Expands a list with a column for the number of each kind to one row each; the last kinds come
// first.
std::string expanded(const std::string& kinds, const std::string& nameColumn) {
  std::istringstream lines(fileText(kinds));
  std::string header;
  std::getline(lines, header);
  std::string rows;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string rest = line.substr(line.find(','));
    for (int left = std::stoi(line); left > 0; --left)
      rows.insert(0, "x" + std::to_string(++number) + rest + "\n");
  }
  return nameColumn + header.substr(header.find(',')) + "\n" + rows;
}

// A mix of fractions of GPUs, whole ones and whole nodes, for 20 nodes of two kinds.
OpenbTrace mixed() {
  std::string nodes = "sn,cpu_milli,memory_mib,gpu,model\n";
  for (int i = 0; i < 20; ++i) {
    const bool large = i % 2 == 0;
    nodes += "n" + std::to_string(i) + (large ? ",96000,400000,8,V100\n" : ",24000,100000,2,T4\n");
  }
  std::string pods;
  const char* kinds[] = {"4000,8000,1,300,",    "4000,8000,1,550,", "8000,16000,1,1000,",
                         "16000,8000,1,700,",   "2000,4000,0,0,",   "32000,64000,4,1000,",
                         "64000,90000,8,1000,", "8000,9000,2,1000,"};
  for (int i = 0; i < 80; ++i) {
    pods += "p" + std::to_string(i) + "," + kinds[i * 7 % 8] + ",LS\n";
  }
  return read(pods, nodes).value();
}

}  // namespace

TEST_CASE("openb: nodes and pods are in the order of their names and equal pods are one kind") {
  const OpenbTrace trace =
      read(
          "p2,4000,8000,1,500,,LS\np1,8000,8000,2,1000,V100|T4,LS\np3,4000,8000,1,500,,BE\n"
          "p4,1000,1000,0,0,,BE\n")
          .value();
  REQUIRE(trace.nodes.size() == 3);
  CHECK(trace.nodes[0].name == "n1");
  CHECK(trace.nodes[0].available.whole == 8);
  REQUIRE(trace.kinds.size() == 3);
  CHECK(trace.kinds[0].devices == 2);
  CHECK(trace.kinds[0].models == (trace.nodes[0].available.model | trace.nodes[1].available.model));
  CHECK(trace.kinds[1].perDevice == 500);
  CHECK(trace.counts == std::vector<std::int64_t>{1, 2, 1});
  CHECK(trace.pods == std::vector<std::size_t>{0, 1, 1, 2});
}

TEST_CASE("openb: without a column gpu_spec any model will do") {
  const auto trace = readOpenb("nodes.csv", kNodes, "pods.csv",
                               "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,4000,8000,2,1000\n");
  REQUIRE(trace);
  REQUIRE(trace->kinds.size() == 1);
  CHECK(trace->kinds[0].models == 0);
  CHECK(trace->kinds[0].devices == 2);
}

TEST_CASE("openb: a published figure belongs to the paper's lists in any order and to no other") {
  const std::string nodes = expanded("node_kinds.csv", "sn");
  const std::string pods = expanded("pod_kinds.csv", "name");
  const auto trace = readOpenb("nodes.csv", nodes, "pods.csv", pods);
  REQUIRE(trace);
  CHECK(trace->nodes.size() == 1213);
  CHECK(trace->pods.size() == 8152);
  CHECK(openbPublished(*trace, ReplayPlacement::kRandom) == 0.8747);
  CHECK(openbPublished(*trace, ReplayPlacement::kBestFit) == 0.9308);
  CHECK(openbPublished(*trace, ReplayPlacement::kFgd) == 0.9539);
  CHECK_FALSE(openbPublished(*trace, ReplayPlacement::kDefault));

  const auto none = [&](const std::string& otherNodes, const std::string& otherPods) {
    const auto other = readOpenb("nodes.csv", otherNodes, "pods.csv", otherPods);
    REQUIRE(other);
    return !openbPublished(*other, ReplayPlacement::kFgd);
  };
  CHECK(none(nodes, pods + "one-more,1000,1000,1,500\n"));
  CHECK(none(nodes + "one-more,64000,262144,2,T4\n", pods));
  // As many pods and GPUs, but another cpu value in one row.
  std::string changed = pods;
  const std::size_t row = changed.find('\n') + 1;
  const std::size_t cpu = changed.find(',', row) + 1;
  changed.replace(cpu, changed.find(',', cpu) - cpu, "1234");
  CHECK(none(nodes, changed));
  // A part of the lists.
  CHECK(none(fileText("nodes.csv"), fileText("pods.csv")));
}

TEST_CASE("openb: impossible values are refused with file and line and column") {
  CHECK(errorOf("p,1,1,1,0,,\n").find("pods.csv line 2, column gpu_milli") == 0);
  CHECK(errorOf("p,1,1,2,500,,\n").find("must be 1000") != std::string::npos);
  CHECK(errorOf("p,1,1,0,500,,\n").find("must be 0") != std::string::npos);
  CHECK(errorOf("p,1,1,1,1001,,\n").find("gpu_milli") != std::string::npos);
  CHECK(errorOf("p,-1,1,1,1000,,\n").find("cpu_milli") != std::string::npos);
  CHECK(errorOf("p,nan,1,1,1000,,\n").find("cpu_milli") != std::string::npos);
  CHECK(errorOf("p,99999999999999999999,1,1,1000,,\n").find("cpu_milli") != std::string::npos);
  CHECK(errorOf("p,,1,1,1000,,\n").find("cpu_milli") != std::string::npos);
  CHECK(errorOf("p,1,1,17,1000,,\n").find("num_gpu") != std::string::npos);
  CHECK(errorOf("p,1,1,1,1000,A||B,\n").find("empty model") != std::string::npos);
  CHECK(errorOf("p,1,1,1,1000,,\np,1,1,1,1000,,\n").find("occurs twice") != std::string::npos);
  CHECK(errorOf(",1,1,1,1000,,\n").find("is empty") != std::string::npos);
  CHECK(errorOf("p,1,1,0,0,,\n") == "pods.csv: no pod wants a GPU");
  CHECK(errorOf("p,1,1,1,1000,,\n", "sn,cpu_milli,memory_mib,gpu,model\nn,1,1,0,\n") ==
        "nodes.csv: no node has a GPU");
  CHECK(errorOf("p,1,1,1,1000,,\n", "sn,cpu_milli,memory_mib,gpu,model\nn,1,1,8,\n").find("model") !=
        std::string::npos);
  CHECK(errorOf("p,1,1,1,1000,,\n", "sn,cpu_milli,memory_mib,model\nn,1,1,T4\n").find("gpu") !=
        std::string::npos);
}

TEST_CASE("openb: every placement stays within devices and cpu and memory and what was offered") {
  const OpenbTrace trace = mixed();
  for (const auto placement : {ReplayPlacement::kDefault, ReplayPlacement::kFgd, ReplayPlacement::kBestFit,
                               ReplayPlacement::kRandom}) {
    DeviceCluster cluster(trace.nodes, trace.kinds, trace.counts, placement, 7);
    for (int round = 0; round < 5; ++round) {
      for (const std::size_t kind : trace.pods) {
        const bool anywhere =
            std::any_of(cluster.nodes().begin(), cluster.nodes().end(),
                        [&](const auto& node) { return node.available.fits(trace.kinds[kind]); });
        // A pod is dropped only if it fits nowhere.
        CHECK(cluster.offer(kind).has_value() == anywhere);
      }
    }
    std::int64_t left = 0;
    for (const DeviceNode& node : cluster.nodes()) {
      CHECK(node.available.cpu >= 0);
      CHECK(node.available.memory >= 0);
      CHECK(node.available.whole >= 0);
      for (std::size_t i = 0; i < node.available.sharedCount; ++i) {
        CHECK(node.available.shared[i] >= 0);
        CHECK(node.available.shared[i] < kWholeDevice);
      }
      left += node.available.deviceAmount();
    }
    CHECK(left == cluster.capacity() - cluster.allocated());
  }
}

TEST_CASE("openb: equal seeds offer equal pods to every placement and give equal results") {
  const OpenbTrace trace = mixed();
  const OpenbResult ours = replayOpenb(trace, ReplayPlacement::kDefault, 42);
  const OpenbResult again = replayOpenb(trace, ReplayPlacement::kDefault, 42);
  const OpenbResult random = replayOpenb(trace, ReplayPlacement::kRandom, 42);
  CHECK(ours.allocatedAt == again.allocatedAt);
  CHECK(ours.offered == random.offered);
  CHECK(ours.arrived == random.arrived);
  CHECK(ours.arrived * 100 <= ours.capacity * kOpenbArrivalsPercent);
  CHECK(ours.allocated == ours.allocatedAt.back());
  CHECK(ours.allocatedAt.size() == kOpenbArrivalsPercent + 1);
  CHECK(ours.allocated <= ours.capacity);
  CHECK(replayOpenb(trace, ReplayPlacement::kDefault, 43).allocatedAt != ours.allocatedAt);
  // A list that exceeds the demand by itself is cut.
  OpenbTrace small = trace;
  small.nodes.resize(1);
  CHECK(replayOpenb(small, ReplayPlacement::kBestFit, 1).offered < small.pods.size());
}

TEST_CASE("a part of a GPU goes onto one that is in use and a whole one not onto the last whole node") {
  const OpenbTrace trace =
      read("p1,1000,1000,1,500,,\np2,1000,1000,8,1000,,\np3,1000,1000,2,1000,,\n").value();
  for (const auto placement : {ReplayPlacement::kDefault, ReplayPlacement::kFgd}) {
    DeviceCluster cluster(trace.nodes, trace.kinds, trace.counts, placement, 1);
    CHECK(cluster.offer(0) == std::size_t{1});  // n2: the eight GPUs of n1 stay whole
    CHECK(cluster.offer(0) == std::size_t{1});
    CHECK(cluster.nodes()[1].available.whole == 1);
    CHECK(cluster.nodes()[1].available.shared[0] == 0);
    CHECK(cluster.offer(1) == std::size_t{0});
  }
}

TEST_CASE("openb: the result shows every placement on the same shuffles") {
  const std::map<std::string, std::string> files = {
      {"nodes.csv", kNodes}, {"pods.csv", kPodHeader + "p1,4000,8000,1,500,,LS\np2,8000,8000,2,1000,,LS\n"}};
  ReplayOptions options;
  options.format = ReplayFormat::kOpenb;
  options.placement = ReplayPlacement::kFgd;
  options.seeds = 3;
  options.jobsFile = "pods.csv";
  options.cluster = "nodes.csv";
  std::size_t done = 0;
  const ReplayOutside outside{
      .readFile = [&](const std::string& path) -> trainyard::base::Result<std::string> {
        const auto file = files.find(path);
        if (file != files.end()) return file->second;
        return trainyard::base::fail(trainyard::base::ErrorCode::kInvalid, path + ": cannot be read");
      },
      .progress = [&](std::size_t so, std::size_t) { done = so; }};
  const auto result = runReplay(options, outside);
  REQUIRE(result);
  CHECK(done == 12);
  CHECK(result->capacity == 10);
  REQUIRE(result->allocations.size() == 4);
  for (const ReplayAllocation& each : result->allocations) {
    REQUIRE(each.byArrivals.size() == kOpenbArrivalsPercent + 1);
    CHECK(std::is_sorted(each.byArrivals.begin(), each.byArrivals.end()));
    CHECK(each.gpuAllocation == Approx(each.byArrivals.back()));
    CHECK(each.gpuAllocation <= 1);
    CHECK(each.gpuAllocation > 0.5);
    if (each.placement == options.placement) CHECK(each.gpuAllocation == result->gpuAllocation);
  }
  CHECK(replayTable(*result).find("ublished") == std::string::npos);
  ReplayResult known = *result;
  known.allocations[0].published = 0.8747;
  CHECK(replayTable(known).find("published, 130 %      87.47        -") != std::string::npos);
  CHECK(replayJson(*result).find(R"("placements":{"random":{"gpuAllocation":)") != std::string::npos);

  const auto refused = [&](const ReplayOptions& wrong) { return runReplay(wrong, outside).error().message; };
  ReplayOptions wrong = options;
  wrong.cluster = "8x8";
  CHECK(refused(wrong).find("--cluster must be a file") == 0);
  wrong = options;
  wrong.jobsFile = "missing.csv";
  CHECK(refused(wrong) == "missing.csv: cannot be read");
  wrong = options;
  wrong.policy = ReplayPolicy{trainyard::model::Ordering::kLas};
  CHECK(refused(wrong).find("--policy means nothing") == 0);
  wrong = options;
  wrong.seeds = 0;
  CHECK(refused(wrong).find("--seeds") == 0);
}

TEST_CASE("openb: more GPUs are handed out than by the paper's measure and far more than by best fit") {
  ReplayOptions options;
  options.format = ReplayFormat::kOpenb;
  options.seed = 42;
  options.seeds = 10;
  options.jobsFile = "pods.csv";
  options.cluster = "nodes.csv";
  const ReplayOutside outside{
      .readFile = [](const std::string& path) -> trainyard::base::Result<std::string> {
        return fileText(path);
      }};
  const auto result = runReplay(options, outside);
  REQUIRE(result);
  std::map<ReplayPlacement, double> allocation;
  for (const ReplayAllocation& each : result->allocations) allocation[each.placement] = each.gpuAllocation;
  CHECK(allocation[ReplayPlacement::kDefault] >= allocation[ReplayPlacement::kFgd]);
  CHECK(allocation[ReplayPlacement::kDefault] >= allocation[ReplayPlacement::kBestFit] + 0.01);
  CHECK(allocation[ReplayPlacement::kBestFit] > allocation[ReplayPlacement::kRandom]);
}
