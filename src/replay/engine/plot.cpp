#include "replay/engine/plot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace trainyard::replay {
namespace {

constexpr double kWidth = 900;
constexpr double kPanelHeight = 230;
constexpr double kLeft = 80;
constexpr double kRight = 20;
constexpr double kTop = 36;     // of a panel, above its axes
constexpr double kBottom = 40;  // below them
constexpr double kTitleHeight = 36;
constexpr std::size_t kMaxPoints = 1'000;

using Points = std::vector<std::pair<double, double>>;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string shortTime(double seconds) {
  if (seconds >= 86'400) return fmt::format("{:.3g} d", seconds / 86'400);
  if (seconds >= 3'600) return fmt::format("{:.3g} h", seconds / 3'600);
  if (seconds >= 60) return fmt::format("{:.3g} min", seconds / 60);
  return fmt::format("{:.3g} s", seconds);
}

// Returns 1, 2 or 5 times a power of ten, so that about five steps reach `most`.
double stepFor(double most) {
  const double rough = std::max(most, 1e-9) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

class Panel {
 public:
  Panel(std::string title, double top, double mostX, double mostY)
      : title_(std::move(title)),
        top_(top + kTop),
        mostX_(std::max(mostX, 1e-9)),
        mostY_(std::max(mostY, 1e-9)) {}

  [[nodiscard]] double x(double value) const { return kLeft + value / mostX_ * (kWidth - kLeft - kRight); }
  [[nodiscard]] double y(double value) const { return bottom() - value / mostY_ * (bottom() - top_); }
  [[nodiscard]] double bottom() const { return top_ + kPanelHeight - kTop - kBottom; }

  [[nodiscard]] std::string frame() const {
    std::string out = fmt::format(
        R"(<text x="{}" y="{:.1f}" font-weight="bold">{}</text>)"
        "\n"
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="none" stroke="#888"/>)"
        "\n",
        kLeft, top_ - 10, escaped(title_), kLeft, top_, kWidth - kLeft - kRight, bottom() - top_);
    const double step = stepFor(mostY_);
    for (double value = 0; value <= mostY_ * (1 + 1e-9); value += step) {
      out += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)"
                         R"(<path d="M{} {:.1f}H{}" stroke="#ddd"/>)"
                         "\n",
                         kLeft - 6, y(value) + 4, value, kLeft, y(value), kWidth - kRight);
    }
    return out;
  }
  [[nodiscard]] std::string mark(double value, const std::string& label) const {
    return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)"
                       R"(<path d="M{:.1f} {:.1f}v5" stroke="#888"/>)"
                       "\n",
                       x(value), bottom() + 18, label, x(value), bottom());
  }
  // Draws steps: a value holds until the next one.
  [[nodiscard]] std::string curve(const Points& points, const char* colour) const {
    std::string path;
    for (const auto& [atX, atY] : points) {
      path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x(atX), y(atY))
                           : fmt::format("H{:.1f}V{:.1f}", x(atX), y(atY));
    }
    return fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="1.2"/>)"
                       "\n",
                       path, colour);
  }

 private:
  std::string title_;
  double top_;
  double mostX_;
  double mostY_;
};

template <typename T>
std::vector<T> thinned(const std::vector<T>& all) {
  const std::size_t stride = all.size() / kMaxPoints + 1;
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
  if (!all.empty() && (all.size() - 1) % stride != 0) some.push_back(all.back());
  return some;
}

std::string overTime(Panel panel, const Points& points, double end, const char* colour) {
  std::string out = panel.frame() + panel.curve(points, colour);
  for (int i = 0; i <= 5; ++i) out += panel.mark(end * i / 5, shortTime(end * i / 5));
  return out;
}

std::string cumulated(double top, const std::vector<double>& sorted) {
  // From the power of ten below all values to the one above them.
  const double minimum = sorted.empty() ? 1 : std::max(sorted.front(), 1.0);
  const double most = sorted.empty() ? 10 : std::max(sorted.back(), 10.0);
  const double from = std::floor(std::log10(minimum));
  const double to = std::max(std::ceil(std::log10(most)), from + 1);
  const Panel panel("Share of jobs that completed within", top, to - from, 1);
  Points points;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    points.emplace_back(std::log10(std::max(sorted[i], 1.0)) - from,
                        static_cast<double>(i + 1) / static_cast<double>(sorted.size()));
  }
  std::string out = panel.frame() + panel.curve(thinned(points), "#2a9d4a");
  for (double power = from; power <= to; ++power)
    out += panel.mark(power - from, shortTime(std::pow(10, power)));
  return out;
}

}  // namespace

std::string replayPlot(const ReplayResult& result, const std::string& title) {
  Points used, waiting;
  std::int64_t maxWaiting = 1;
  for (const ReplaySample& sample : thinned(result.samples)) {
    used.emplace_back(sample.time, static_cast<double>(sample.gpusInUse));
    waiting.emplace_back(sample.time, static_cast<double>(sample.waiting));
    maxWaiting = std::max(maxWaiting, sample.waiting);
  }
  const double end = result.makespanSeconds;
  const double height = kTitleHeight + 3 * kPanelHeight;
  std::string out =
      fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}")"
                  R"( font-family="sans-serif" font-size="12">)"
                  "\n"
                  R"(<rect width="100%" height="100%" fill="white"/>)"
                  "\n"
                  R"(<text x="{2}" y="24" font-size="16">{3}</text>)"
                  "\n",
                  kWidth, height, kLeft, escaped(title));
  out += overTime(Panel(fmt::format("GPUs in use of {}", result.capacity), kTitleHeight, end,
                        static_cast<double>(result.capacity)),
                  used, end, "#1f6fb2");
  out += overTime(Panel("Waiting jobs", kTitleHeight + kPanelHeight, end, static_cast<double>(maxWaiting)),
                  waiting, end, "#c0562b");
  out += cumulated(kTitleHeight + 2 * kPanelHeight, result.sortedCompletionSeconds);
  return out + "</svg>\n";
}

}  // namespace trainyard::replay
