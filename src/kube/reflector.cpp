#include "kube/reflector.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codec/list.h"
#include "kube/backoff.h"

namespace trainyard::kube {
namespace {

using base::ErrorCode;

constexpr std::chrono::milliseconds kListTimeout{60'000};
// Bookmarks arrive about every minute. A watch that is silent for two minutes is replaced.
constexpr std::chrono::milliseconds kWatchSilence{120'000};
// A kind without changes gets no bookmarks, unless etcd is configured to report its progress (as kubeadm
// does). A watch is therefore long only if the previous one had a bookmark. Other watches end before their
// silence is significant, and their planned end is the sign of life. Both durations vary, so that the watches
// of many clients do not end together.
constexpr std::pair<int, int> kLongWatchSeconds{300, 600};
constexpr std::pair<int, int> kShortWatchSeconds{60, 100};
// After a broken watch, for consumers of its data: the next watch must prove soon that it works.
constexpr std::pair<int, int> kProvingWatchSeconds{5, 10};
constexpr base::Instant::duration kTooShort = std::chrono::seconds(1);
// An expired version does not indicate load, so a first list does not back off. The short random delay
// spreads the clients of a restarted server.
constexpr base::Instant::duration kRecently = std::chrono::seconds(30);
constexpr std::int64_t kMaxSpreadMs = 800;
// Watches that may fail in a row without a line before the resourceVersion itself is suspected.
constexpr int kMaxFailedWatches = 5;
// The limit of one page: about ten of the largest objects that the API server accepts.
constexpr std::size_t kMaxObjectBytes = std::size_t{16} << 20;
// The limit of an unpaged list, used if paging took too long.
constexpr std::size_t kMaxListBytes = std::size_t{64} << 20;
constexpr int kShrink = 4;

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
        sink_(sink),
        backoff_({.cap = options_.maxDelay}, rng_.split()),
        pageSize_(options_.pageSize) {}

  void start() {
    if (running_) return;
    running_ = true;
    list();
  }

  void stop() {
    running_ = false;
    ++round_;
    executor_.cancel(timer_);
    timer_ = {};
    watch_.reset();
  }

  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] base::Instant lastHeard() const { return lastHeard_; }

 private:
  // Wraps a callback so that it runs only while its list or watch is the current one.
  template <typename Body>
  auto current(Body body) {
    return [weak = weak_from_this(), round = round_, body = std::move(body)](auto&&... values) {
      if (const auto self = weak.lock(); self && self->round_ == round) {
        body(*self, std::forward<decltype(values)>(values)...);
      }
    };
  }

  // Every list is consistent (no resourceVersion), repeated ones too: "not older than the last seen version"
  // would be answered from a watch cache, possibly the one that has just failed.
  void list() {
    beginRound();
    bookmarked_ = false;
    unpaged_ = std::exchange(nextUnpaged_, false);
    listBegan_ = executor_.now();
    fetchPage("");
  }

  void beginRound() {
    ++round_;
    watch_.reset();
  }

  void fetchPage(const std::string& continueToken) {
    ApiRequest request{.path = options_.type.collection(),
                       .query = options_.selectors,
                       .timeout = kListTimeout,
                       .maxAnswerBytes = unpaged_         ? kMaxListBytes
                                         : pageSize_ == 1 ? std::max(kMaxObjectBytes, options_.pageBytes)
                                                          : options_.pageBytes};
    if (!unpaged_) request.query.emplace_back("limit", fmt::to_string(pageSize_));
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
    lastHeard_ = executor_.now();
    // Twice as many objects then still take at most half of the limit.
    if (!unpaged_ && bytes < options_.pageBytes / 4) pageSize_ = std::min(pageSize_ * 2, options_.pageSize);
    const auto round = round_;
    sink_.page(page->items, continueToken.empty());
    if (round_ != round) return;
    if (!page->continueToken.empty()) return fetchPage(page->continueToken);
    failedWatches_ = 0;
    resourceVersion_ = page->resourceVersion;
    synced_ = true;
    sink_.listed(resourceVersion_);
    if (round_ == round) watch();
  }

  void pageFailed(const std::string& continueToken, const base::Error& error) {
    if (error.code == ErrorCode::kTooLarge && !unpaged_ && pageSize_ > 1) {
      pageSize_ = std::max(pageSize_ / kShrink, 1);
      log_.info("page too large, asking for fewer objects",
                {{"resource", options_.type.plural}, {"limit", fmt::to_string(pageSize_)}});
      return fetchPage(continueToken);
    }
    // A page token expires with compaction. The list is repeated once without pages, so that a collection
    // that is slow to page through still completes; if that fails, it is repeated in pages.
    if (!continueToken.empty() && error.code == ErrorCode::kExpired) {
      log_.info("page token expired, listing again in one piece", {{"error", error.message}});
      nextUnpaged_ = true;
      return list();
    }
    failed("list failed", error);
    listLater(delayFor(error));
  }

  void watch() {
    beginRound();
    ApiRequest request{
        .path = options_.type.collection(), .query = options_.selectors, .timeout = kWatchSilence};
    request.query.emplace_back("watch", "1");
    request.query.emplace_back("resourceVersion", resourceVersion_);
    request.query.emplace_back("allowWatchBookmarks", "true");
    const auto [least, most] = proveNext_    ? kProvingWatchSeconds
                               : bookmarked_ ? kLongWatchSeconds
                                             : kShortWatchSeconds;
    const std::chrono::seconds planned{rng_.between(least, most)};
    request.query.emplace_back("timeoutSeconds", fmt::to_string(planned.count()));
    proveNext_ = bookmarked_ = false;
    watchBegan_ = lastLine_ = executor_.now();
    plannedEnd_ = watchBegan_ + planned;
    lines_ = 0;
    watch_ = api_.watch(std::move(request),
                        current([](Impl& self, std::string line) { self.lineCame(std::move(line)); }),
                        current([](Impl& self, base::Result<void> end) { self.watchEnded(std::move(end)); }));
  }

  void lineCame(std::string line) {
    auto event = codec::decodeWatchEvent(std::move(line));
    if (!event) {
      failed("watch sent what cannot be read", event.error());
      listLater(delayFor(event.error()));
      return;
    }
    if (event->type == codec::WatchEventType::kError) {
      refused(codec::errorFromStatus(*event->status, "watch"));
      return;
    }
    ++lines_;
    failedWatches_ = 0;
    lastHeard_ = lastLine_ = executor_.now();
    // Set before the sink is called, because the sink may stop the reflector.
    resourceVersion_ = std::move(event->resourceVersion);
    switch (event->type) {
      case codec::WatchEventType::kAdded:
      case codec::WatchEventType::kModified: sink_.upsert(event->object); break;
      case codec::WatchEventType::kDeleted: sink_.remove(event->object); break;
      case codec::WatchEventType::kBookmark: bookmarked_ = true; break;
      case codec::WatchEventType::kError: break;
    }
  }

  void watchEnded(base::Result<void> end) {
    if (!end) {
      if (wasSilent(end.error())) return proveSilence();
      refused(end.error());
      return;
    }
    // The server ends watches as planned. A watch that ends at once without a line would cause a busy loop.
    if (lines_ == 0 && executor_.now() - watchBegan_ < kTooShort) {
      watchLater(backoff_.next(executor_.now()));
      return;
    }
    lastHeard_ = executor_.now();
    failedWatches_ = 0;
    watch();
  }

  // Returns true if the watch ended only because no line arrived for kWatchSilence, before its planned end.
  // This is normal for a quiet kind if its last bookmark followed a last change. After the planned end,
  // silence is a fault: the server's end of the watch was lost.
  [[nodiscard]] bool wasSilent(const base::Error& error) const {
    const base::Instant now = executor_.now();
    return error.code == ErrorCode::kOutcomeUnknown && now - lastLine_ >= kWatchSilence && now < plannedEnd_;
  }

  // Silence is not a failure, so there is neither a warning nor a back-off. The next watch is short: its
  // planned end shows within seconds whether the server was quiet or unreachable.
  void proveSilence() {
    log_.debug("watch was silent, starting another", {{"resource", options_.type.plural}});
    proveNext_ = true;
    watch();
  }

  // The watch broke, or was refused by its status or by an ERROR event.
  void refused(const base::Error& error) {
    failed("watch failed", error);
    proveNext_ = true;
    if (error.code == ErrorCode::kExpired && executor_.now() - listBegan_ > kRecently) {
      listLater(std::chrono::milliseconds(rng_.between(0, kMaxSpreadMs)));
      return;
    }
    // A watch that delivered lines until it broke shows a working server. Counting it as a failure, as
    // client-go does, leaves a scheduler without updates for half a minute if a proxy keeps cutting it.
    if (lines_ > 0 && executor_.now() - watchBegan_ >= kTooShort) backoff_.reset();
    const auto delay = delayFor(error);
    switch (error.code) {
      case ErrorCode::kThrottled:
      case ErrorCode::kUnavailable:
      case ErrorCode::kUnauthorized: watchLater(delay); return;
      case ErrorCode::kOutcomeUnknown:
        if (++failedWatches_ < kMaxFailedWatches) {
          watchLater(delay);
          return;
        }
        break;
      default: break;
    }
    listLater(delay);
  }

  void listLater(base::Instant::duration delay) {
    later(delay, [](Impl& self) { self.list(); });
  }
  void watchLater(base::Instant::duration delay) {
    later(delay, [](Impl& self) { self.watch(); });
  }

  template <typename Step>
  void later(base::Instant::duration delay, Step step) {
    beginRound();
    executor_.cancel(timer_);
    timer_ = executor_.postAfter(delay, current(step));
  }

  base::Instant::duration delayFor(const base::Error& error) {
    const auto delay = backoff_.next(executor_.now());
    if (!error.retryAfter) return delay;
    return std::max<base::Instant::duration>(delay, *error.retryAfter);
  }

  void failed(std::string_view what, const base::Error& error) {
    log_.warning(what, {{"resource", options_.type.plural},
                        {"code", base::toString(error.code)},
                        {"error", error.message},
                        {"resourceVersion", resourceVersion_}});
  }

  const ReflectorOptions options_;
  ApiClient& api_;
  base::Executor& executor_;
  base::Rng rng_;
  base::Logger log_;
  ReflectorSink& sink_;
  Backoff backoff_;

  bool running_ = false;
  bool synced_ = false;
  std::uint64_t round_ = 0;  // of the current list or watch; answers of older ones are ignored
  base::Instant lastHeard_{};
  base::Instant listBegan_{};
  base::TimerId timer_;
  std::unique_ptr<net::StreamHandle> watch_;

  int pageSize_;              // the limit of objects of the next page
  bool unpaged_ = false;      // of the list in progress
  bool nextUnpaged_ = false;  // of the next list
  std::string resourceVersion_;
  base::Instant watchBegan_{};
  base::Instant plannedEnd_{};  // of the current watch, by its timeoutSeconds
  base::Instant lastLine_{};    // or when the current watch began
  int lines_ = 0;
  bool bookmarked_ = false;  // by the current watch, or by the last one between two
  bool proveNext_ = false;   // the next watch proves that the server is alive
  int failedWatches_ = 0;
};

Reflector::Reflector(ReflectorOptions options, ApiClient& api, base::Executor& executor, base::Rng rng,
                     base::Logger log, ReflectorSink& sink)
    : impl_(std::make_shared<Impl>(std::move(options), api, executor, rng, std::move(log), sink)) {}

Reflector::~Reflector() { impl_->stop(); }

void Reflector::start() { impl_->start(); }
void Reflector::stop() { impl_->stop(); }
bool Reflector::synced() const { return impl_->synced(); }
base::Instant Reflector::lastHeard() const { return impl_->lastHeard(); }

}  // namespace trainyard::kube
