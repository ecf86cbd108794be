#include "core/network/shared_link.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace trainyard::core {
namespace {

constexpr int kMaxEvents = 6'000;
constexpr int kPeriods = 60;
constexpr std::int64_t kNano = 1'000'000'000;
// The fractional parts of multiples of the golden ratio, in permille: evenly distributed over any stretch,
// with no two jobs in step.
constexpr std::uint64_t kGolden = 618;
// More orders than these add no information about a rotation.
constexpr std::size_t kMaxRotations = 8;

struct Sender {
  std::int64_t burst = 0;      // nanoseconds if it has the link alone
  std::int64_t gap = 0;        // nanoseconds
  std::int64_t left = 0;       // rest of the burst; while sending
  std::int64_t resumes = 0;    // end of the gap; while computing
  std::int64_t delivered = 0;  // link time that it has received
  bool sending = true;
  std::uint64_t draws = 0;
};

std::int64_t jittered(Sender& sender) {
  const auto step = static_cast<std::int64_t>(++sender.draws * kGolden % 1'000);  // 0 to 999
  return sender.gap + sender.gap * (step - 500) / 5'000;                          // ±10 %
}

class Link {
 public:
  Link(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond, std::size_t first) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const BurstProfile& job = jobs[(first + i) % jobs.size()];
      Sender sender;
      // Seconds and the remainder separately: a product of bytes and nanoseconds would overflow.
      sender.burst =
          job.bytes / bytesPerSecond * kNano +
          std::max<std::int64_t>(1, job.bytes % bytesPerSecond * 1'000 / bytesPerSecond * 1'000'000);
      sender.gap = std::chrono::duration_cast<std::chrono::nanoseconds>(job.gap).count();
      sender.left = sender.burst;
      sender.draws = i * 37;
      longest_ = std::max(longest_, sender.burst + sender.gap);
      all_ += sender.burst;
      senders_.push_back(sender);
    }
  }

  void run(bool strict) {
    const std::int64_t end = kPeriods * std::max(longest_, all_);
    for (int event = 0; event < kMaxEvents && now_ < end; ++event) step(strict);
  }

  // Delivered time relative to that of a job alone on the link, which bursts in every period.
  [[nodiscard]] int speedPermille(std::size_t at) const {
    const Sender& sender = senders_[at];
    if (now_ == 0) return 1'000;
    const double alone = static_cast<double>(sender.burst) / static_cast<double>(sender.burst + sender.gap);
    const double had = static_cast<double>(sender.delivered) / static_cast<double>(now_);
    return static_cast<int>(std::min(1'000.0, 1'000.0 * had / alone));
  }

 private:
  void step(bool strict) {
    std::int64_t active = 0;
    const Sender* head = nullptr;
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Sender& each : senders_) {
      if (!each.sending) {
        next = std::min(next, each.resumes - now_);
        continue;
      }
      ++active;
      if (head == nullptr) head = &each;
      least = std::min(least, each.left);
    }
    const std::int64_t parts = strict ? 1 : std::max<std::int64_t>(1, active);
    if (head != nullptr) next = std::min(next, (strict ? head->left : least) * parts);
    next = std::max<std::int64_t>(next, 1);
    now_ += next;
    for (Sender& each : senders_)
      advance(each, strict && &each != head ? 0 : std::max<std::int64_t>(1, next / parts));
  }

  void advance(Sender& sender, std::int64_t work) const {
    if (!sender.sending) {
      if (sender.resumes > now_) return;
      sender.sending = true;
      sender.left = sender.burst;
      return;
    }
    const std::int64_t sent = std::min(work, sender.left);
    sender.left -= sent;
    sender.delivered += sent;
    if (sender.left > 0) return;
    sender.sending = false;
    sender.resumes = now_ + jittered(sender);
  }

  std::vector<Sender> senders_;
  std::int64_t now_ = 0;
  std::int64_t longest_ = 0;
  std::int64_t all_ = 0;
};

std::vector<int> speedsFrom(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond,
                            std::size_t first, bool strict) {
  Link link(jobs, bytesPerSecond, first);
  link.run(strict);
  std::vector<int> speeds(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) speeds[(first + i) % jobs.size()] = link.speedPermille(i);
  return speeds;
}

std::vector<int> rotatedSpeeds(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond) {
  const std::size_t turns = std::min(jobs.size(), kMaxRotations);
  std::vector<int> sums(jobs.size(), 0);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const auto speeds = speedsFrom(jobs, bytesPerSecond, turn * jobs.size() / turns, true);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += speeds[i];
  }
  for (int& sum : sums) sum /= static_cast<int>(turns);
  return sums;
}

// Returns the speed of each job relative to its shared speed, in permille.
std::vector<int> against(const std::vector<int>& ordered, const std::vector<int>& shared) {
  std::vector<int> parts(ordered.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) parts[i] = ordered[i] * 1'000 / std::max(shared[i], 1);
  return parts;
}

bool noJobLoses(const std::vector<int>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](int part) { return part >= kLoserPermille; });
}

}  // namespace

std::vector<int> linkSpeeds(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond,
                            LinkOrder order) {
  if (jobs.empty() || bytesPerSecond <= 0) return std::vector<int>(jobs.size(), 1'000);
  if (order == LinkOrder::kRotated) return rotatedSpeeds(jobs, bytesPerSecond);
  return speedsFrom(jobs, bytesPerSecond, 0, order == LinkOrder::kStrict);
}

Discipline chooseDiscipline(const std::vector<BurstProfile>& jobs, std::int64_t bytesPerSecond) {
  if (jobs.size() < 2) return Discipline::kStrict;
  const auto shared = linkSpeeds(jobs, bytesPerSecond, LinkOrder::kShared);
  if (noJobLoses(against(linkSpeeds(jobs, bytesPerSecond, LinkOrder::kStrict), shared)))
    return Discipline::kStrict;
  const auto rotated = against(linkSpeeds(jobs, bytesPerSecond, LinkOrder::kRotated), shared);
  int sum = 0;
  for (const int part : rotated) sum += part;
  const bool worth = sum / static_cast<int>(rotated.size()) >= kWorthPermille;
  return worth && noJobLoses(rotated) ? Discipline::kRotate : Discipline::kGuaranteed;
}

}  // namespace trainyard::core
