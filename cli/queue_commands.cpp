#include "cli/queue_commands.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/decoded_items.h"
#include "cli/queue_text.h"
#include "codec/list.h"
#include "codec/queue.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

base::Result<std::vector<model::Queue>> readQueues(ClusterClient& client) {
  auto body = client.get({kube::kQueues.collection()}).front();
  if (!body) {
    const bool unknown = body.error().code == base::ErrorCode::kNotFound;
    return base::fail(
        body.error().code,
        unknown
            ? fmt::format("this cluster has no Queues: are Trainyard's CRDs installed? ({})", client.source())
            : fmt::format("{} ({})", body.error().message, client.source()));
  }
  auto list = codec::decodeList(std::move(*body));
  if (!list) return base::fail(list.error());
  auto decoded = decodeItems(*list, "Queue", [](const auto& item) { return codec::decodeQueue(item); });
  warnOf(decoded.skipped);
  return std::move(decoded.items);
}

}  // namespace

base::Result<std::string> runQueues(const QueueFlags& flags) {
  const auto client = ClusterClient::connect(flags.connect);
  if (!client) return base::fail(client.error());
  const auto queues = readQueues(**client);
  if (!queues) return base::fail(queues.error());
  if (!flags.queue.empty()) {
    for (const model::Queue& queue : *queues) {
      if (queue.name.str() == flags.queue)
        return flags.json ? queueJson(queue) : queueDetails(queue, (*client)->now());
    }
    return base::fail(base::ErrorCode::kNotFound,
                      fmt::format("Queue {} not found ({})", flags.queue, (*client)->source()));
  }
  if (flags.json) return queuesJson(*queues);
  if (queues->empty())
    return "No Queues: the whole cluster is one queue named \"default\", without limits.\n";
  return queuesTable(*queues);
}

}  // namespace trainyard::cli
