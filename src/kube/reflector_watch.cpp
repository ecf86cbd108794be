#include "kube/reflector_watch.h"

namespace trainyard::kube {
namespace {

// A kind without changes gets no bookmarks, unless etcd is configured to report its progress (as kubeadm
// does). A watch is therefore long only if the previous one had a bookmark. Other watches end before their
// silence is significant, and their planned end is the sign of life. Both durations vary, so that the watches
// of many clients do not end together.
constexpr std::pair<int, int> kLongWatchSeconds{300, 600};
constexpr std::pair<int, int> kShortWatchSeconds{60, 100};
// After a broken watch, for consumers of its data: the next watch must prove soon that it works.
constexpr std::pair<int, int> kProvingWatchSeconds{5, 10};
constexpr base::Instant::duration kTooShort = std::chrono::seconds(1);

}  // namespace

std::chrono::seconds ReflectorWatch::begin(base::Instant now, base::Rng& rng) {
  const auto [least, most] = proveNext_    ? kProvingWatchSeconds
                             : bookmarked_ ? kLongWatchSeconds
                                           : kShortWatchSeconds;
  const std::chrono::seconds planned{rng.between(least, most)};
  proveNext_ = bookmarked_ = false;
  began_ = lastLine_ = now;
  plannedEnd_ = now + planned;
  lines_ = 0;
  return planned;
}

void ReflectorWatch::lineCame(base::Instant now) {
  ++lines_;
  lastLine_ = now;
}

bool ReflectorWatch::wasEmpty(base::Instant now) const { return lines_ == 0 && now - began_ < kTooShort; }

bool ReflectorWatch::wasUseful(base::Instant now) const { return lines_ > 0 && now - began_ >= kTooShort; }

bool ReflectorWatch::wasSilent(const base::Error& error, base::Instant now) const {
  return error.code == base::ErrorCode::kOutcomeUnknown && now - lastLine_ >= kWatchSilence &&
         now < plannedEnd_;
}

}  // namespace trainyard::kube
