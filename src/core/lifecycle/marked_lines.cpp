#include "core/lifecycle/marked_lines.h"

#include <algorithm>
#include <string_view>

#include "core/lifecycle/log_lines.h"

namespace trainyard::core {
namespace {

using model::Sign;

// This many lines of training prove that the program outlived the lines before them. One is not enough: the
// ranks of a gang share one log, and the ranks next to a dead one still end their step.
constexpr int kOutlived = 3;
// The search for the end of a traceback stops here: its last line may be lost among lines of other ranks.
constexpr std::size_t kLongestTraceback = 120;

// What the patterns report about one line, apart from failure signs.
struct Marks {
  bool noise = false;
  bool wraps = false;  // noise that only wraps another message
  bool quiet = false;
  bool final = false;
  bool progress = false;
  bool indented = false;
};

bool opensTraceback(std::string_view text) {
  return text.find("Traceback (most recent call last)") != std::string_view::npos;
}

// Returns true if the line before a traceback marks it as merely logged.
bool announcesWarning(std::string_view text) { return text.find("WARN") != std::string_view::npos; }

Marks readMarks(const LogLine& line, const std::vector<int>& found, const BookReading& book,
                MarkedLine& into) {
  Marks marks;
  marks.indented = line.indented;
  for (const int each : found) {
    const model::FailureRule& rule = book.rules()[static_cast<std::size_t>(each)];
    switch (rule.sign) {
      case Sign::kNoise:
        marks.noise = true;
        marks.wraps = marks.wraps || rule.weight > 0;
        break;
      case Sign::kQuiet: marks.quiet = true; break;
      case Sign::kFinal: marks.final = true; break;
      case Sign::kProgress: marks.progress = true; break;
      default: into.signs.push_back(each);
    }
  }
  if (marks.final) marks.noise = marks.quiet = false;
  into.evidence = !marks.noise;
  into.quiet = marks.quiet;
  return marks;
}

// Marks the source code in tracebacks, and tracebacks that were only logged, as no evidence.
void readTracebacks(std::vector<MarkedLine>& lines, const std::vector<Marks>& marks) {
  for (std::size_t head = 0; head < lines.size(); ++head) {
    if (!opensTraceback(lines[head].text)) continue;
    std::size_t at = head + 1;
    const std::size_t most = std::min(lines.size(), head + kLongestTraceback);
    while (at < most && marks[at].indented) lines[at++].evidence = false;
    if (at == most) continue;
    const bool logged = announcesWarning(lines[head].text) ||
                        (head > 0 && (announcesWarning(lines[head - 1].text) || marks[head - 1].noise));
    if (logged && lines[at].continued) lines[at].evidence = false;
    // The exception ended the program: the attempts that it mentions were made before.
    if (marks[at].noise && !marks[at].wraps && !lines[at].continued) lines[at].evidence = true;
  }
}

void countBehind(std::vector<MarkedLine>& lines, const std::vector<Marks>& marks) {
  int ordinary = 0;
  int progress = 0;
  bool another = false;
  for (std::size_t i = lines.size(); i-- > 0;) {
    MarkedLine& line = lines[i];
    line.continued = progress > 0 || another;
    line.laterLines = ordinary;
    if (progress >= kOutlived) line.evidence = false;
    another = another || (line.evidence && !line.quiet && !line.signs.empty());
    if (!line.signs.empty() || marks[i].noise || marks[i].indented) continue;
    ++ordinary;
    if (marks[i].progress) ++progress;
  }
}

std::vector<LogLine> allLines(const model::MemberEvidence& member) {
  std::vector<LogLine> lines = lastLines(member.log);
  for (const model::ContainerEvidence& container : member.containers) {
    if (container.message.empty()) continue;
    for (LogLine& line : lastLines(container.message)) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::vector<MarkedLine> markLines(const model::MemberEvidence& member, const BookReading& book) {
  std::vector<LogLine> plain = allLines(member);
  std::vector<MarkedLine> lines(plain.size());
  std::vector<Marks> marks(plain.size());
  std::vector<int> found;
  // Reads from the end, where the cause stands, in case `enough` stops the reading.
  for (std::size_t i = plain.size(); i-- > 0;) {
    book.inLine(plain[i].text, found);
    marks[i] = readMarks(plain[i], found, book, lines[i]);
    lines[i].text = std::move(plain[i].text);
  }
  countBehind(lines, marks);
  readTracebacks(lines, marks);
  return lines;
}

}  // namespace trainyard::core
