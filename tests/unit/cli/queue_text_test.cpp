#include "cli/queue_text.h"

#include <catch2/catch.hpp>

namespace {

using namespace trainyard;

base::WallTime at(std::int64_t seconds) { return base::WallTime(std::chrono::seconds(seconds)); }

model::Queue queue(std::string_view name, std::string_view parent = "") {
  model::Queue made;
  made.name = model::QueueName(name);
  made.parent = model::QueueName(parent);
  made.status.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", at(0), 1}};
  return made;
}

model::Queue vision() {
  model::Queue made = queue("vision", "research");
  made.uid = model::Uid("q");
  made.weight = 3;
  made.guaranteed = model::Quota({{"nvidia.com/gpu", 32}, {"cpu", 1500}});
  made.limit = model::Quota({{"nvidia.com/gpu", 64}, {"gpu-type.trainyard.dev/H100", 8}});
  made.namespaceSelector.requirements = {{"team", model::SelectorOperator::kIn, {"vision"}},
                                         {"tier", model::SelectorOperator::kNotIn, {"free", "trial"}},
                                         {"guest", model::SelectorOperator::kDoesNotExist, {}}};
  made.status.usage = model::Quota({{"nvidia.com/gpu", 24}, {"memory", std::int64_t{3} << 30}});
  made.status.share = 125;
  made.status.fairShare = 333;
  made.status.waiting = 2;
  made.status.placed = 5;
  return made;
}

TEST_CASE("queues are shown as a tree with siblings in order of their names") {
  CHECK(cli::queuesTable({queue("research"), vision(), queue("batch", "research"), queue("all")}) ==
        "QUEUE      READY   WEIGHT   GUARANTEED   LIMIT   USED   SHARE   FAIR    WAITING   PLACED\n"
        "all        yes     1        -            -       -      0.0%    0.0%    0         0\n"
        "research   yes     1        -            -       -      0.0%    0.0%    0         0\n"
        "  batch    yes     1        -            -       -      0.0%    0.0%    0         0\n"
        "  vision   yes     3        32           64      24     12.5%   33.3%   2         5\n");
}

TEST_CASE("queues that form no tree are listed with the reason") {
  model::Queue lost = queue("lost", "nowhere");
  lost.status.conditions[0].status = model::ConditionStatus::kFalse;
  lost.status.conditions[0].reason = "ParentNotFound";
  model::Queue fresh = queue("fresh");
  fresh.status = {};
  CHECK(cli::queuesTable({queue("a", "b"), queue("b", "a"), lost, fresh}) ==
        "QUEUE   READY            WEIGHT   GUARANTEED   LIMIT   USED   SHARE   FAIR   WAITING   PLACED\n"
        "fresh   ?                1        -            -       -      0.0%    0.0%   0         0\n"
        "lost    ParentNotFound   1        -            -       -      0.0%    0.0%   0         0\n"
        "a       yes              1        -            -       -      0.0%    0.0%   0         0\n"
        "  b     yes              1        -            -       -      0.0%    0.0%   0         0\n");
}

TEST_CASE("one queue is shown in full") {
  CHECK(cli::queueDetails(vision(), at(60)) ==
        "Queue:          vision\n"
        "Parent:         research\n"
        "Ready:          yes\n"
        "Weight:         3\n"
        "Share:          12.5% of the cluster, of 33.3% it is entitled to now\n"
        "Jobs:           2 waiting, 5 placed\n"
        "Reclaim:        true\n"
        "Within queue:   LowerPriority\n"
        "Namespaces:     team=vision, tier notin (free, trial), !guest\n"
        "\n"
        "  RESOURCE                      GUARANTEED   LIMIT   USED\n"
        "  cpu                           1500m        -       -\n"
        "  gpu-type.trainyard.dev/H100   -            8       -\n"
        "  memory                        -            -       3Gi\n"
        "  nvidia.com/gpu                32           64      24\n"
        "\n"
        "  CONDITION   STATUS   SINCE   REASON   MESSAGE\n"
        "  Ready       True     60s     Ready\n");
}

TEST_CASE("queues as JSON") {
  CHECK(cli::queuesJson({vision()}) ==
        R"({"items":[{"name":"vision","uid":"q","parent":"research","weight":3,)"
        R"("guaranteed":{"cpu":"1500m","nvidia.com/gpu":"32"},)"
        R"("limit":{"gpu-type.trainyard.dev/H100":"8","nvidia.com/gpu":"64"},)"
        R"("preemption":{"reclaim":true,"withinQueue":"LowerPriority"},)"
        R"("status":{"observedGeneration":0,"usage":{"memory":"3Gi","nvidia.com/gpu":"24"},)"
        R"("share":125,"fairShare":333,"waiting":2,"placed":5,)"
        R"("conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"",)"
        R"("lastTransitionTime":"1970-01-01T00:00:00Z","observedGeneration":1}]}}]})"
        "\n");
}

}  // namespace
