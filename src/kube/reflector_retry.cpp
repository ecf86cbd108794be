#include "kube/reflector_retry.h"

#include <algorithm>
#include <chrono>

namespace trainyard::kube {
namespace {

using base::ErrorCode;
using Kind = ReflectorStep::Kind;

// An expired version does not indicate load, so a first list does not back off. The short random delay
// spreads the clients of a restarted server.
constexpr base::Instant::duration kRecently = std::chrono::seconds(30);
constexpr std::int64_t kMaxSpreadMs = 800;
// Watches that may fail in a row without a line before the resourceVersion itself is suspected.
constexpr int kMaxFailedWatches = 5;

}  // namespace

ReflectorStep ReflectorRetry::afterList(const base::Error& error, base::Instant now) {
  return {Kind::kList, delayFor(error, now)};
}

ReflectorStep ReflectorRetry::afterEmptyWatch(base::Instant now) {
  return {Kind::kWatch, backoff_.next(now)};
}

ReflectorStep ReflectorRetry::afterWatch(const base::Error& error, const ReflectorWatch& watch,
                                         base::Instant now) {
  if (error.code == ErrorCode::kExpired && now - listBegan_ > kRecently)
    return {Kind::kList, std::chrono::milliseconds(rng_.between(0, kMaxSpreadMs))};
  // A watch that delivered lines until it broke shows a working server. Counting it as a failure, as
  // client-go does, leaves a scheduler without updates for half a minute if a proxy keeps cutting it.
  if (watch.wasUseful(now)) backoff_.reset();
  const auto delay = delayFor(error, now);
  switch (error.code) {
    case ErrorCode::kThrottled:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnauthorized: return {Kind::kWatch, delay};
    case ErrorCode::kOutcomeUnknown:
      if (++failedWatches_ < kMaxFailedWatches) return {Kind::kWatch, delay};
      break;
    default: break;
  }
  return {Kind::kList, delay};
}

base::Instant::duration ReflectorRetry::delayFor(const base::Error& error, base::Instant now) {
  const auto delay = backoff_.next(now);
  if (!error.retryAfter) return delay;
  return std::max<base::Instant::duration>(delay, *error.retryAfter);
}

}  // namespace trainyard::kube
