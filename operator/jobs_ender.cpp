#include "operator/jobs_ender.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codec/list.h"
#include "codec/object_meta.h"
#include "kube/paths.h"

namespace trainyard::operator_ {
namespace {

constexpr std::chrono::seconds kEndedCheck{1};
constexpr std::size_t kNamed = 5;

}  // namespace

JobsEnder::JobsEnder(kube::ApiClient& api, base::Executor& executor, base::Logger log,
                     std::chrono::seconds patience, std::function<void(base::Result<void>)> done)
    : api_(api), executor_(executor), log_(std::move(log)), patience_(patience), done_(std::move(done)) {}

JobsEnder::~JobsEnder() {
  *alive_ = false;
  executor_.cancel(timer_);
}

void JobsEnder::start() {
  latest_ = executor_.now() + patience_;
  list();
}

void JobsEnder::list() {
  api_.get(kube::kTrainingJobs.collection(),
           [this, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
             if (!*alive) return;
             if (answer) return take(answer->body);
             if (answer.error().code == base::ErrorCode::kNotFound) return done_({});
             again(answer.error().message);
           });
}

void JobsEnder::take(const std::string& body) {
  const auto jobs = codec::decodeList(body);
  if (!jobs) return again(jobs.error().message);
  std::vector<std::string> names;
  for (const std::string& item : jobs->items) {
    const auto meta = codec::decodeObjectMeta(item);
    if (!meta) continue;
    if (names.size() < kNamed) names.push_back(fmt::format("{}/{}", meta->ns, meta->name));
    if (!asked_.insert(meta->uid).second) continue;
    // The next list shows which jobs are left, whatever this request returns.
    api_.remove(kube::kTrainingJobs.object(meta->ns, meta->name), {.uid = meta->uid},
                [this, uid = meta->uid, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
                  if (*alive && !answer) asked_.erase(uid);
                });
  }
  if (jobs->items.empty()) return done_({});
  again(fmt::format("{} TrainingJobs are left: {}{}", jobs->items.size(), fmt::join(names, ", "),
                    jobs->items.size() > names.size() ? ", …" : ""));
}

void JobsEnder::again(std::string why) {
  if (executor_.now() >= latest_) return done_(base::fail(base::ErrorCode::kUnavailable, std::move(why)));
  log_.info("waiting", {{"for", why}});
  timer_ = executor_.postAfter(kEndedCheck, [this] { list(); });
}

}  // namespace trainyard::operator_
