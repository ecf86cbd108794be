#include "operator/console/streams.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "operator/console/answers.h"

namespace trainyard::operator_::console {
namespace {

using std::chrono::seconds;

constexpr base::Instant::duration kTick = seconds(1);
constexpr base::Instant::duration kQuiet = seconds(15);  // then a comment is sent

}  // namespace

void Streams::open(const ExchangePtr& exchange, const std::string& token) {
  callers_.identifyForAllJobs(exchange, token, [this, exchange, token](const Viewer& viewer) {
    admit(std::make_shared<Stream>(
              Stream{.exchange = exchange, .token = token, .tenant = tenantOf(viewer.user)}),
          viewer);
  });
}

void Streams::admit(const StreamPtr& stream, const Viewer& viewer) {
  dropGone();
  const auto own = std::count_if(streams_.begin(), streams_.end(),
                                 [&](const StreamPtr& each) { return each->tenant == stream->tenant; });
  if (streams_.size() >= kMaxStreams || static_cast<std::size_t>(own) >= kMaxStreamsOfTenant)
    return stream->exchange->reply(refusal(429, "too many pages are open; close one"));
  net::HttpResponse head = makeAnswer(200, "text/event-stream", "");
  head.headers.emplace_back("X-Accel-Buffering", "no");  // keeps proxies from buffering
  stream->exchange->startStream(std::move(head));
  streams_.push_back(stream);
  send(*stream, viewer);
  if (!std::exchange(ticking_, true)) tickLater();
}

void Streams::dropGone() {
  streams_.remove_if([](const StreamPtr& each) { return each->exchange->clientGone(); });
}

void Streams::tickLater() {
  executor_.postAfter(kTick, [this, alive = alive_] {
    if (*alive) tick();
  });
}

void Streams::tick() {
  dropGone();
  ticking_ = !streams_.empty();
  if (!ticking_) return;
  tickLater();
  for (const StreamPtr& stream : streams_) keepAlive(*stream);
  facts_.refresh([this](bool) {
    const auto streams = streams_;  // feed() may close some
    for (const StreamPtr& stream : streams) feed(stream);
  });
}

void Streams::feed(const StreamPtr& stream) {
  if (std::exchange(stream->busy, true)) return;
  const auto take = [this, stream](base::Result<Viewer> viewer) {
    stream->busy = false;
    if (!viewer)
      return close(stream, statusOf(viewer.error()) == 401 ? "denied" : "trouble", messageOf(viewer.error()));
    send(*stream, *viewer);
    if (stream->bytes > kMaxStreamBytes) close(stream, "again", "");
  };
  access_.viewerOf(stream->token, facts_.current().jobNamespaces, goneOf(stream->exchange), take);
}

void Streams::send(Stream& stream, const Viewer& viewer) {
  const LiveFacts::Sections now = facts_.sectionsFor(viewer);
  std::string out;
  if (now != stream.sent) {
    for (std::size_t i = 0; i < now->size(); ++i) {
      const bool same = stream.sent && i < stream.sent->size() && (*stream.sent)[i] == (*now)[i];
      if (!same) out += sentEvent((*now)[i].name, (*now)[i].json);
    }
  }
  if (!out.empty()) out += sentEvent("ready", "null");
  // The first batch is not counted: it may be large and does not show whether the reader keeps up.
  if (stream.sent) stream.bytes += out.size();
  stream.sent = now;
  if (out.empty()) return;
  stream.lastWrite = executor_.now();
  stream.exchange->write(std::move(out));
}

// Also covers streams that wait for a review of their rights, which takes long with many viewers: the page
// takes silence for a broken connection.
void Streams::keepAlive(Stream& stream) {
  const base::Instant now = executor_.now();
  if (!stream.sent || now - stream.lastWrite < kQuiet) return;
  stream.lastWrite = now;
  stream.exchange->write(":\n\n");
}

void Streams::close(const StreamPtr& stream, std::string_view event, std::string_view why) {
  stream->exchange->write(sentEvent(event, fmt::format("\"{}\"", why)));
  stream->exchange->end();
  streams_.remove(stream);
}

}  // namespace trainyard::operator_::console
