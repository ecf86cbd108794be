#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "operator/console/callers.h"
#include "operator/console/live_facts.h"

namespace trainyard::operator_::console {

inline constexpr std::size_t kMaxStreams = 32;
inline constexpr std::size_t kMaxStreamsOfTenant = 6;
// A stream that has sent this much ends and the page opens another, which bounds what a slow reader holds.
inline constexpr std::size_t kMaxStreamBytes = std::size_t{8} << 20;

// GET /api/stream: server-sent events, each section of view.h when it changes, then `ready`; at most once a
// second. `denied` when the token is not valid any more, `trouble` on other errors. Periodic comments keep
// proxies from closing the stream. Each tenant (tenantOf()) has a share of the streams.
class Streams {
 public:
  Streams(base::Executor& executor, LiveFacts& facts, Access& access, Callers& callers)
      : executor_(executor), facts_(facts), access_(access), callers_(callers) {}
  ~Streams() { *alive_ = false; }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  void open(const ExchangePtr& exchange, const std::string& token);

  [[nodiscard]] std::size_t size() const { return streams_.size(); }

 private:
  struct Stream {
    ExchangePtr exchange;
    std::string token;
    std::string tenant = {};
    LiveFacts::Sections sent = nullptr;
    std::size_t bytes = 0;
    bool busy = false;  // a review of rights is under way
    base::Instant lastWrite{};
  };
  using StreamPtr = std::shared_ptr<Stream>;

  void admit(const StreamPtr& stream, const Viewer& viewer);
  void dropGone();
  void tickLater();
  void tick();
  void feed(const StreamPtr& stream);
  void send(Stream& stream, const Viewer& viewer);
  void keepAlive(Stream& stream);
  void close(const StreamPtr& stream, std::string_view event, std::string_view why);

  base::Executor& executor_;
  LiveFacts& facts_;
  Access& access_;
  Callers& callers_;
  std::list<StreamPtr> streams_;
  bool ticking_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::operator_::console
