#include "codec/job_status.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/rng.h"
#include "codec/job.h"
#include "codec/json_value.h"

using namespace trainyard;

namespace {

base::WallTime at(std::int64_t seconds) {
  return base::WallTime(std::chrono::seconds(1'790'000'000 + seconds));
}

model::Job decodedWith(const std::string& statusJson) {
  auto job = codec::decodeJob(fmt::format(
      R"({{"metadata":{{"name":"bert","namespace":"ml","uid":"j1","resourceVersion":"5"}},"status":{}}})",
      statusJson));
  INFO(statusJson);
  INFO((job ? std::string() : job.error().message));
  REQUIRE(job);
  return *std::move(job);
}

// Draws values of every shape that the record can take, from one seed.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : rng_(seed) {}

  model::JobStatus status() {
    model::JobStatus status;
    status.phase = text();
    status.observedGeneration = number(100);
    for (int i = number(4); i > 0; --i) status.conditions.push_back(condition());
    for (int i = number(3); i > 0; --i) {
      status.roles.push_back({text(), number(9), number(9), number(9), number(9), number(9)});
    }
    status.replicas = number(99);
    status.selector = text();
    status.ready = text();
    status.gpus = number(1000);
    status.gang = gang();
    if (number(2) == 0) status.pending = pending();
    status.delays = {std::chrono::seconds(number(3)), std::chrono::seconds(number(3))};
    if (number(2) == 0) status.service = {number(100), number(100), exact()};
    if (number(2) == 0) status.resize = resize();
    if (number(2) == 0) {
      status.preemptions = {.count = 1 + number(3), .byOtherQueues = number(2), .last = exact()};
      if (number(2) == 0) status.preemptions.by = model::ObjectKey{"ml", "urgent"};
    }
    if (number(2) == 0) status.progress = progress();
    if (number(2) == 0) status.startTime = at(number(100'000));
    if (number(2) == 0) status.completionTime = at(number(100'000));
    return status;
  }

 private:
  int number(int below) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(below))); }
  std::size_t index(std::size_t size) { return static_cast<std::size_t>(number(static_cast<int>(size))); }
  std::string text() {
    static constexpr std::string_view kTexts[] = {"",
                                                  "worker",
                                                  "a \"quoted\" word",
                                                  "zwölf 😀",
                                                  "line\nbreak\ttab",
                                                  std::string_view("nul\0byte", 8),
                                                  "back\\slash",
                                                  "/"};
    return std::string(kTexts[number(static_cast<int>(std::size(kTexts)))]);
  }
  std::string name() { return fmt::format("n{}", number(50)); }
  base::WallTime exact() {
    return at(number(100'000)) + std::chrono::microseconds(number(2) * number(1'000'000));
  }

  model::Condition condition() {
    return {name(),   static_cast<model::ConditionStatus>(number(3)), text(), text(), at(number(100'000)),
            number(9)};
  }
  std::vector<model::Assignment> assignments() {
    std::vector<model::Assignment> list;
    for (int i = number(4); i > 0; --i) {
      std::vector<int> indices{number(20)};
      for (int j = number(6); j > 0; --j) indices.push_back(number(20));
      list.push_back({model::NodeName(name()), name(), model::IndexSet(std::move(indices))});
    }
    return list;
  }
  model::ResizeStatus resize() {
    model::ResizeStatus resize;
    if (number(2) == 0) resize.desired = number(9);
    resize.decidedBy = static_cast<model::SizeOwner>(number(3));
    resize.message = text();
    resize.step = static_cast<model::ResizeStep>(number(5));
    if (number(2) == 0) resize.deadline = exact();
    if (number(2) == 0) resize.cooldownUntil = exact();
    resize.count = number(9);
    for (int i = number(4); i > 0; --i) resize.lastPauseMillis.push_back(number(100'000));
    for (int i = number(4); i > 0; --i) resize.speeds.push_back({i, number(1'000'000)});
    return resize;
  }
  model::GangRecord gang() {
    model::GangRecord gang;
    gang.lastEpoch = number(5);
    if (number(2) == 0) gang.placed = model::Placed{number(5), assignments()};
    if (number(2) == 0) {
      model::Proposal proposal;
      proposal.id = text();
      proposal.kind = static_cast<model::ProposalKind>(number(5));
      proposal.phase = static_cast<model::ProposalPhase>(number(4));
      proposal.epoch = number(5);
      proposal.term = number(5);
      proposal.generation = number(5);
      proposal.templateHash = text();
      if (number(2) == 0) proposal.deadline = exact();
      proposal.add = assignments();
      proposal.remove = assignments();
      for (int i = number(3); i > 0; --i) {
        proposal.victims.push_back({{text(), name()}, model::Uid(name()), model::NodeName(text())});
      }
      proposal.abortReason = text();
      if (number(2) == 0) proposal.movesFor = model::ObjectKey{name(), name()};
      gang.proposal = std::move(proposal);
    }
    if (number(2) == 0) {
      model::Backoff backoff{exact(), number(9), {}, text()};
      for (int i = number(3); i > 0; --i) backoff.avoidNodes.emplace_back(name());
      gang.backoff = std::move(backoff);
    }
    if (number(2) == 0) gang.charge = charge();
    return gang;
  }
  model::Charge charge() {
    model::Charge charge{model::QueueName(name()), number(2) == 0, number(2'000) - 1'000, {}};
    for (int i = number(3); i > 0; --i) charge.ancestors.emplace_back(name());
    for (int i = number(3); i > 0; --i)
      charge.backfilled.push_back({{name(), name()}, model::Uid(name()), exact()});
    for (int i = number(3); i > 0; --i) {
      model::Resources requests;
      requests.cpu = model::Millicores{number(2'000)};
      requests.memory = model::Bytes{static_cast<std::int64_t>(number(100)) << number(40)};
      requests.ephemeralStorage = model::Bytes{number(2)};
      requests.pods = number(2);
      requests.setExtended("nvidia.com/gpu", number(9));
      requests.setExtended("rdma/hca", number(3));
      charge.members.push_back({name(), std::move(requests)});
    }
    return charge;
  }
  model::Progress progress() {
    model::Progress progress;
    progress.step = number(1'000);
    if (number(2) == 0) progress.totalSteps = number(1'000);
    if (number(2) == 0) progress.milliSamplesPerSecond = number(100'000);
    if (number(2) == 0) progress.remainingSeconds = number(100'000);
    if (number(2) == 0) progress.noiseSamples = number(100'000);
    for (int i = number(3); i > 0; --i) progress.metrics.emplace_back(text(), text());
    if (number(2) == 0) progress.lastCheckpoint = at(number(100'000));
    progress.replicas = number(9);
    if (number(2) == 0) {
      progress.slowestRank = number(9);
      progress.slowdownPermille = number(9'000);
    }
    if (number(2) == 0) progress.at = at(number(100'000));
    return progress;
  }
  model::Pending pending() {
    model::Pending pending;
    // Each but the last, kOther, which is written under another name.
    static_assert(model::kPendingReasons.back().reason == model::PendingReason::kOther);
    pending.reason = model::kPendingReasons.at(index(model::kPendingReasons.size() - 1)).reason;
    pending.message = text();
    pending.since = exact();
    if (number(2) == 0)
      pending.shortfall =
          model::Shortfall{text(), number(9), -number(9), number(9), number(9), text(), text()};
    for (int i = number(3); i > 0; --i) {
      pending.blockedBy.push_back({{text(), name()}, number(9), number(9)});
      if (number(2) == 0) pending.blockedBy.back().expectedEnd = exact();
    }
    pending.delay = model::kDelayKinds.at(index(model::kDelayKinds.size())).kind;
    if (number(2) == 0) pending.nextRelaxation = exact();
    if (number(2) == 0) pending.estimatedStart = exact();
    return pending;
  }

  base::Rng rng_;
};

// Applies a merge patch as an API server does (RFC 7386).
std::string merged(const codec::JsonValue& target, const codec::JsonValue& patch) {
  if (patch.type() != codec::JsonType::kObject) return patch.minified();
  std::string out;
  const auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", key, value);
  };
  target.forEachMember([&](std::string_view key, codec::JsonValue value) {
    if (patch.find(key).type() == codec::JsonType::kMissing) add(key, value.minified());
  });
  patch.forEachMember([&](std::string_view key, codec::JsonValue value) {
    if (value.type() != codec::JsonType::kNull) add(key, merged(target.find(key), value));
  });
  return "{" + out + "}";
}

}  // namespace

TEST_CASE("a job's status decodes to what was encoded") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const model::JobStatus status = Maker(seed).status();
    CAPTURE(seed);
    REQUIRE(decodedWith(codec::encodeJobStatus(status)).status == status);
  }
}

TEST_CASE("a status patch leads from any status to any other") {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    CAPTURE(seed);
    const model::JobStatus after = Maker(seed + 1'000'000).status();
    model::Job before;
    before.status = Maker(seed).status();
    // Half of the pairs differ in one part only, as most writes do.
    if (seed % 2 == 0) {
      model::JobStatus near = before.status;
      near.gang = after.gang;
      near.pending = after.pending;
      before.status = near;
      before.status.gang.proposal = Maker(seed + 2'000'000).status().gang.proposal;
    }
    const auto patch = codec::encodeStatusPatch(before, after);
    if (!patch) {
      REQUIRE(before.status == after);
      continue;
    }
    const auto beforeJson = codec::JsonDocument::parse(codec::encodeJobStatus(before.status));
    const auto patchJson = codec::JsonDocument::parse(*patch);
    REQUIRE(beforeJson);
    REQUIRE(patchJson);
    REQUIRE(decodedWith(merged(beforeJson->root(), patchJson->root().find("status"))).status == after);
  }
}

TEST_CASE("a status patch holds what changed and nothing else") {
  model::Job job;
  job.uid = model::Uid("j1");
  job.resourceVersion = "5";
  job.status.phase = "Queued";
  job.status.gang.lastEpoch = 1;
  job.status.gang.backoff = model::Backoff{at(0), 1, {}, "lost"};
  job.status.pending = model::Pending{model::PendingReason::kTooLarge, "no", at(0), std::nullopt, {}};
  CHECK_FALSE(codec::encodeStatusPatch(job, job.status));

  model::JobStatus after = job.status;
  after.phase = "Starting";
  after.gang.backoff.reset();
  after.gang.placed = model::Placed{1, {{model::NodeName("n1"), "worker", model::IndexSet({0, 1, 2, 5})}}};
  after.pending.reset();
  CHECK(
      codec::encodeStatusPatch(job, after) ==
      R"({"metadata":{"resourceVersion":"5"},"status":{"phase":"Starting","gang":{"placed":{"epoch":1,"assignments":)"
      R"([{"node":"n1","role":"worker","indices":"0-2,5"}]},"backoff":null},"pending":null}})");
  after = job.status;
  after.observedGeneration = 2;
  CHECK(codec::encodeStatusPatch(job, after) ==
        R"({"metadata":{"resourceVersion":"5"},"status":{"observedGeneration":2}})");
}

TEST_CASE("times retain the precision that they need") {
  model::JobStatus status;
  status.startTime = at(0) + std::chrono::microseconds(999'999);
  status.gang.backoff = model::Backoff{at(0) + std::chrono::microseconds(250'000), 1, {}, ""};
  const model::JobStatus read = decodedWith(codec::encodeJobStatus(status)).status;
  CHECK(read.startTime == at(0));  // whole seconds, as metav1.Time
  CHECK(read.gang.backoff->until == status.gang.backoff->until);
  // Values that the encoding drops are not a change.
  model::Job job;
  job.status = read;
  CHECK_FALSE(codec::encodeStatusPatch(job, status));
}

TEST_CASE("text that is no UTF-8 reaches a status as replacement characters") {
  model::JobStatus status;
  status.phase =
      "a\xff\xc3(\xed\xa0\x80"
      "b\xf0\x9f\x98";
  const std::string json = codec::encodeJobStatus(status);
  const auto document = codec::JsonDocument::parse(json);
  REQUIRE(document);
  CHECK(document->root().find("phase").string()->starts_with("a\xEF\xBF\xBD\xEF\xBF\xBD("));
}

TEST_CASE("values of a newer version in fields for display are accepted") {
  const model::Job job =
      decodedWith(R"({"pending":{"reason":"WaitingForGodot","message":"m"},"progress":{"step":5},
    "conditions":[{"type":"New","status":"Perhaps","reason":"r","message":""}]})");
  REQUIRE(job.status.pending);
  CHECK(job.status.pending->message == "m");
  // The reason of the newer version is kept.
  CHECK(job.status.pending->reason == model::PendingReason::kOther);
  CHECK(job.status.pending->reasonText() == "WaitingForGodot");
  CHECK_THAT(codec::encodeJobStatus(job.status), Catch::Contains(R"("reason":"WaitingForGodot")"));
  CHECK(job.status.conditions.at(0).status == model::ConditionStatus::kUnknown);
}

TEST_CASE("a job's delays and service and preemptions are written as the schema defines") {
  model::JobStatus status;
  status.delays = {std::chrono::seconds(60), std::chrono::seconds(7)};
  status.service = {3600, 1800, at(0)};
  status.preemptions = {.count = 2, .last = at(1), .by = model::ObjectKey{"ml", "urgent"}};
  status.pending.emplace();
  status.pending->delay = model::DelayKind::kFairShare;
  CHECK(
      codec::encodeJobStatus(status) ==
      R"({"observedGeneration":0,"replicas":0,"gpus":0,"pending":{"reason":"WaitingForCapacity",)"
      R"("delay":"FairShare"},"delays":{"fairShareSeconds":60,"fragmentationSeconds":7},)"
      R"("service":{"gpuSeconds":3600,"runSeconds":1800,"updatedAt":"2026-09-21T14:13:20Z"},)"
      R"("preemptions":{"count":2,"lastTime":"2026-09-21T14:13:21Z","lastBy":{"namespace":"ml","name":"urgent"}}})");
}

TEST_CASE("negative or absurd numbers in a status are refused by name") {
  for (const char* status : {R"({"delays":{"fairShareSeconds":-1}})", R"({"service":{"gpuSeconds":1e300}})",
                             R"({"preemptions":{"count":99999999999}})"}) {
    CAPTURE(status);
    const auto job = codec::decodeJob(
        fmt::format(R"({{"metadata":{{"name":"bert","namespace":"ml"}},"status":{}}})", status));
    REQUIRE_FALSE(job);
    CHECK_THAT(job.error().message, Catch::StartsWith("job ml/bert: status."));
  }
}

TEST_CASE("a record of an older version has no charge and a gang without one is written without") {
  const model::Job job = decodedWith(R"({"gang":{"lastEpoch":1,"placed":{"epoch":1,"assignments":
      [{"node":"n1","role":"worker","indices":"0"}]}}})");
  CHECK(job.status.gang.placed);
  CHECK_FALSE(job.status.gang.charge);
  CHECK(codec::encodeJobStatus(job.status).find("charge") == std::string::npos);
}
