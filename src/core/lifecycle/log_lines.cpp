#include "core/lifecycle/log_lines.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/plain_text.h"

namespace trainyard::core {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns the length of the terminal escape sequence at the front of `text`, which begins with ESC.
std::size_t escapeLength(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t at = 2;
  while (at < text.size() && !isLetter(text[at]) && at < 16) ++at;
  return std::min(at + 1, text.size());
}

// Keeps the beginning and the end of a line that is too long. It cuts the line before it removes control
// characters, so that a line of megabytes costs no more.
std::string bounded(std::string_view line) {
  if (line.size() <= kLineBytes) return withoutControls(line);
  constexpr std::size_t kEnd = kLineBytes / 4;
  return withoutControls(line.substr(0, kLineBytes - kEnd - 5)) + " ... " +
         withoutControls(line.substr(line.size() - kEnd));
}

// Returns the visible end of a terminal line that is redrawn repeatedly (progress bars).
std::string_view lastDrawn(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t at = line.rfind('\r');
  return at == std::string_view::npos ? line : line.substr(at + 1);
}

// Returns the length of a time such as 2026-05-01T10:00:00.123Z or 2026-05-01 10:00:00,123 at the front,
// including the blanks, colon or dash that follow it.
std::size_t timeLength(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd?dd:dd:dd";
  if (text.size() < kForm.size()) return 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool date = i < 10 && kForm[i] == '-';
    const bool slash = date && text[i] == '/';
    if (kForm[i] == 'd' ? !isDigit(text[i]) : kForm[i] != '?' && kForm[i] != text[i] && !slash) return 0;
  }
  std::size_t at = kForm.size();
  while (at < text.size() && (isDigit(text[at]) || text[at] == '.' || text[at] == ',' || text[at] == '+'))
    ++at;
  if (at < text.size() && text[at] == 'Z') ++at;
  if (at < text.size() && (text[at] == ':' || text[at] == ']')) ++at;
  if (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// Returns the length of a mark in brackets and one blank after it: [rank3]: , [default0]:, [1,3]<stderr>:,
// [0]:, [worker-3].
std::size_t rankLength(std::string_view text) {
  const std::size_t close = text.substr(0, 24).find(']');
  if (text.empty() || text.front() != '[' || close == std::string_view::npos) return 0;
  const std::string_view inside = text.substr(1, close - 1);
  const bool named =
      inside.starts_with("rank") || inside.starts_with("default") || inside.starts_with("Rank ");
  const bool numbered = !inside.empty() && std::all_of(inside.begin(), inside.end(),
                                                       [](char c) { return isDigit(c) || c == ','; });
  if (!named && !numbered) return 0;
  std::size_t at = close + 1;
  for (const std::string_view stream : {"<stdout>", "<stderr>", "<stddiag>"}) {
    if (text.substr(at).starts_with(stream)) at += stream.size();
  }
  if (at < text.size() && text[at] == ':') ++at;
  if (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// Returns the length of the name of a host or actor with a colon: "worker-3: ", "10.0.0.3: ", or "(Trainer
// pid=12, ip=10.0.0.3) ".
std::size_t sourceLength(std::string_view text) {
  if (text.starts_with('(')) {
    const std::size_t close = text.substr(0, 80).find(") ");
    if (close == std::string_view::npos || text.substr(0, close).find(" pid=") == std::string_view::npos)
      return 0;
    return close + 2;
  }
  const std::size_t colon = text.substr(0, 64).find(": ");
  if (colon == std::string_view::npos || colon == 0 || !isDigit(text[colon - 1])) return 0;
  const std::string_view name = text.substr(0, colon);
  const bool host = std::all_of(name.begin(), name.end(), [](char c) {
    return isDigit(c) || c == '-' || c == '.' || (c >= 'a' && c <= 'z');
  });
  return host && name.find_first_of("-.") != std::string_view::npos ? colon + 2 : 0;
}

std::string_view withoutMarks(std::string_view text) {
  constexpr int kMax = 4;
  for (int i = 0; i < kMax; ++i) {
    const std::size_t length = std::max({timeLength(text), rankLength(text), sourceLength(text)});
    if (length == 0) break;
    text.remove_prefix(length);
  }
  return text;
}

}  // namespace

std::string withoutControls(std::string_view line) {
  // Fast path: most lines contain only printable ASCII.
  const bool plain =
      std::all_of(line.begin(), line.end(), [](char c) { return c == '\t' || (c >= ' ' && c < 0x7f); });
  if (plain) return std::string(line);
  std::string text;
  text.reserve(std::min(line.size(), kLineBytes));
  while (!line.empty()) {
    const auto first = static_cast<unsigned char>(line.front());
    if (first == 0x1b) {
      line.remove_prefix(escapeLength(line));
      continue;
    }
    const std::size_t length = base::utf8Length(line);
    if (length == 1 && (first >= 0x20 || first == '\t') && first != 0x7f) text += line.front();
    if (length > 1 && !base::isInvisible(base::codePointAt(line))) text += line.substr(0, length);
    line.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::vector<LogLine> lastLines(std::string_view log) {
  if (log.size() > kLogBytes) {
    log.remove_prefix(log.size() - kLogBytes);
    // Drops the first, partial line, unless it is the only one: half a line may mean something else.
    if (const std::size_t end = log.find('\n'); end != std::string_view::npos) log.remove_prefix(end + 1);
  }
  std::vector<LogLine> lines;
  while (!log.empty() && lines.size() < kLogLines) {
    const std::size_t before = log.find_last_of('\n');
    const std::string_view raw = before == std::string_view::npos ? log : log.substr(before + 1);
    log = before == std::string_view::npos ? std::string_view() : log.substr(0, before);
    const std::string clean = bounded(lastDrawn(raw));
    const std::string_view text = withoutMarks(clean);
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    lines.push_back({std::string(text), text.front() == ' ' || text.front() == '\t'});
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace trainyard::core
