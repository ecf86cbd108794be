#include "cli/log_sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/json_value.h"
#include "model/process_group.h"

namespace trainyard::cli {
namespace {

LogSource sourceOf(const model::Job& job, std::string_view role, int index, std::string label) {
  return {model::podName(job.key.name, role, index), std::move(label)};
}

std::string textOf(const codec::JsonValue& value) { return std::string(value.string().value_or("")); }

std::int64_t restartsOf(const codec::JsonValue& status) {
  std::int64_t restarts = 0;
  status.find("containerStatuses").forEachElement([&](const codec::JsonValue& each) {
    restarts += each.find("restartCount").integer().value_or(0);
  });
  return restarts;
}

}  // namespace

base::Result<std::vector<LogSource>> logSourcesOf(const model::Job& job, const LogChoice& choice) {
  if (!choice.role.empty()) return std::vector{sourceOf(job, choice.role, choice.index, "")};
  std::vector<LogSource> sources;
  const int last = choice.all ? model::groupSize(job) - 1 : choice.rank;
  for (int rank = choice.all ? 0 : choice.rank; rank <= last; ++rank) {
    const auto member = model::memberOfRank(job, rank);
    if (!member)
      return base::fail(base::ErrorCode::kNotFound,
                        fmt::format("{} has no rank {}: its process group has {} members; --role and --index "
                                    "name any member",
                                    job.key, rank, model::groupSize(job)));
    sources.push_back(sourceOf(job, member->first->name, member->second,
                               choice.all ? fmt::format("[{}] ", rank) : std::string()));
  }
  return sources;
}

std::string labelled(std::string_view text, std::string_view label) {
  if (label.empty()) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    out.append(label).append(line).append("\n");
  }
  return out;
}

base::Result<std::vector<LogRun>> begunRuns(const std::vector<LogSource>& sources, std::string_view pods) {
  const auto document = codec::JsonDocument::parse(pods);
  if (!document) return base::fail(document.error());
  std::vector<LogRun> runs;
  document->root().find("items").forEachElement([&](const codec::JsonValue& pod) {
    const std::string name = textOf(pod.find("metadata").find("name"));
    const bool wanted =
        std::any_of(sources.begin(), sources.end(), [&](const LogSource& each) { return each.pod == name; });
    const codec::JsonValue status = pod.find("status");
    const std::string phase = textOf(status.find("phase"));
    if (!wanted || phase.empty() || phase == "Pending") return;
    runs.emplace_back(name,
                      fmt::format("{}/{}", textOf(pod.find("metadata").find("uid")), restartsOf(status)));
  });
  return runs;
}

}  // namespace trainyard::cli
