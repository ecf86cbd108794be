#include "kube/reflector.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "codec/list.h"
#include "kube/list_pages.h"
#include "kube/reflector_feed.h"
#include "kube/reflector_retry.h"
#include "kube/reflector_watch.h"
#include "kube/round.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr std::chrono::milliseconds kListTimeout{60'000};

}  // namespace

class Reflector::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(ReflectorOptions options, ApiClient& api, base::Executor& executor, base::Rng rng, base::Logger log,
       ReflectorSink& sink)
      : options_(std::move(options)),
        api_(api),
        executor_(executor),
        rng_(rng),
        log_(std::move(log)),
        feed_(sink),
        retry_(options_.maxDelay, rng_),
        pages_(options_.pageSize, options_.pageBytes) {}

  void start() {
    if (state_.running) return;
    state_.running = true;
    list();
  }

  void stop() {
    state_.running = false;
    beginRound();
    executor_.cancel(timer_);
    timer_ = {};
  }

  [[nodiscard]] bool synced() const { return feed_.synced(); }
  [[nodiscard]] bool absent() const { return state_.absent; }
  [[nodiscard]] base::Instant lastHeard() const { return feed_.lastHeard(); }

 private:
  // Wraps a callback so that it runs only while its list or watch is the current one.
  template <typename Body>
  auto current(Body body) {
    return round_.guard(weak_from_this(), std::move(body));
  }

  // Every list is consistent (no resourceVersion), repeated ones too: "not older than the last seen version"
  // would be answered from a watch cache, possibly the one that has just failed.
  void list() {
    beginRound();
    watch_.listBegan();
    pages_.beginList();
    retry_.listBegan(executor_.now());
    fetchPage("");
  }

  void beginRound() {
    round_.next();
    watch_.close();
  }

  void fetchPage(const std::string& continueToken) {
    ApiRequest request{.path = options_.type.collection(),
                       .query = options_.selectors,
                       .timeout = kListTimeout,
                       .maxAnswerBytes = pages_.maxBytes()};
    if (const auto limit = pages_.maxObjects()) request.query.emplace_back("limit", fmt::to_string(*limit));
    if (!continueToken.empty()) request.query.emplace_back("continue", continueToken);
    api_.request(std::move(request), current([continueToken](Impl& self, base::Result<ApiResponse> answer) {
                   self.pageCame(continueToken, std::move(answer));
                 }));
  }

  void pageCame(const std::string& continueToken, base::Result<ApiResponse> answer) {
    const std::size_t bytes = answer ? answer->body.size() : 0;
    const auto page =
        answer ? codec::decodeList(std::move(answer->body)) : tl::unexpected(std::move(answer.error()));
    if (!page) return pageFailed(continueToken, page.error());
    pages_.pageCame(bytes);
    const auto round = round_.number();
    feed_.page(page->items, continueToken.empty(), executor_.now());
    if (round_.number() != round) return;
    if (!page->continueToken.empty()) return fetchPage(page->continueToken);
    retry_.succeeded();
    state_.absent = false;
    feed_.listed(page->resourceVersion);
    if (round_.number() == round) watch();
  }

  void pageFailed(const std::string& continueToken, const base::Error& error) {
    if (error.code == ErrorCode::kTooLarge && pages_.shrink()) {
      log_.info("page too large, asking for fewer objects",
                {{"resource", options_.type.plural}, {"limit", fmt::to_string(*pages_.maxObjects())}});
      return fetchPage(continueToken);
    }
    // A page token expires with compaction. The list is repeated once without pages, so that a collection
    // that is slow to page through still completes; if that fails, it is repeated in pages.
    if (!continueToken.empty() && error.code == ErrorCode::kExpired) {
      log_.info("page token expired, listing again in one piece", {{"error", error.message}});
      pages_.requestUnpaged();
      return list();
    }
    failed("list failed", error);
    later(retry_.afterList(error, executor_.now()));
  }

  void watch() {
    beginRound();
    const std::chrono::seconds planned = watch_.begin(executor_.now(), rng_);
    ApiRequest request{
        .path = options_.type.collection(), .query = options_.selectors, .timeout = kWatchSilence};
    request.query.emplace_back("watch", "1");
    request.query.emplace_back("resourceVersion", feed_.resourceVersion());
    request.query.emplace_back("allowWatchBookmarks", "true");
    request.query.emplace_back("timeoutSeconds", fmt::to_string(planned.count()));
    watch_.opened(api_.watch(
        std::move(request), current([](Impl& self, std::string line) { self.lineCame(std::move(line)); }),
        current([](Impl& self, base::Result<void> end) { self.watchEnded(std::move(end)); })));
  }

  void lineCame(std::string line) {
    auto event = codec::decodeWatchEvent(std::move(line));
    if (!event) {
      failed("watch sent what cannot be read", event.error());
      later(retry_.afterList(event.error(), executor_.now()));
      return;
    }
    if (event->type == codec::WatchEventType::kError) {
      refused(codec::errorFromStatus(*event->status, "watch"));
      return;
    }
    retry_.succeeded();
    watch_.lineCame(executor_.now());
    if (event->type == codec::WatchEventType::kBookmark) watch_.bookmarkCame();
    feed_.event(std::move(*event), executor_.now());
  }

  void watchEnded(base::Result<void> end) {
    if (!end) {
      if (watch_.wasSilent(end.error(), executor_.now())) return proveSilence();
      refused(end.error());
      return;
    }
    if (watch_.wasEmpty(executor_.now())) {
      later(retry_.afterEmptyWatch(executor_.now()));
      return;
    }
    // The server ends watches as planned.
    feed_.heard(executor_.now());
    retry_.succeeded();
    watch();
  }

  // Silence is not a failure, so there is neither a warning nor a back-off. The next watch is short: its
  // planned end shows within seconds whether the server was quiet or unreachable.
  void proveSilence() {
    log_.debug("watch was silent, starting another", {{"resource", options_.type.plural}});
    watch_.proveNext();
    watch();
  }

  // The watch broke, or was refused by its status or by an ERROR event.
  void refused(const base::Error& error) {
    failed("watch failed", error);
    watch_.proveNext();
    later(retry_.afterWatch(error, watch_, executor_.now()));
  }

  void later(const ReflectorStep& step) {
    beginRound();
    executor_.cancel(timer_);
    timer_ = executor_.postAfter(step.delay, current([kind = step.kind](Impl& self) {
                                   if (kind == ReflectorStep::Kind::kList) {
                                     self.list();
                                   } else {
                                     self.watch();
                                   }
                                 }));
  }

  void failed(std::string_view what, const base::Error& error) {
    if (options_.mayBeAbsent && error.code == ErrorCode::kNotFound) {
      state_.absent = true;
      return log_.debug("the kind is not served", {{"resource", options_.type.plural}});
    }
    log_.warning(what, {{"resource", options_.type.plural},
                        {"code", base::toString(error.code)},
                        {"error", error.message},
                        {"resourceVersion", feed_.resourceVersion()}});
  }

  const ReflectorOptions options_;
  ApiClient& api_;
  base::Executor& executor_;
  base::Rng rng_;
  base::Logger log_;
  ReflectorFeed feed_;
  ReflectorRetry retry_;
  ListPages pages_;

  struct {
    bool running = false;
    bool absent = false;  // the kind is not served
  } state_;
  Round round_;  // of the current list or watch
  base::TimerId timer_;
  ReflectorWatch watch_;
};

Reflector::Reflector(ReflectorOptions options, ApiClient& api, base::Executor& executor, base::Rng rng,
                     base::Logger log, ReflectorSink& sink)
    : impl_(std::make_shared<Impl>(std::move(options), api, executor, rng, std::move(log), sink)) {}

Reflector::~Reflector() { impl_->stop(); }

void Reflector::start() { impl_->start(); }
void Reflector::stop() { impl_->stop(); }
bool Reflector::synced() const { return impl_->synced(); }
bool Reflector::absent() const { return impl_->absent(); }
base::Instant Reflector::lastHeard() const { return impl_->lastHeard(); }

}  // namespace trainyard::kube
