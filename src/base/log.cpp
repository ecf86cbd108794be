#include "base/log.h"

#include <unistd.h>

#include <fmt/format.h>

namespace trainyard::base {
namespace {

// Length of the well-formed UTF-8 sequence at `text`, 0 when there is none.
std::size_t utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

void appendEscaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  } else {
    out += c;
  }
}

class StderrSink final : public LogSink {
 public:
  void write(std::string_view line) override {
    std::string bytes(line);
    bytes += '\n';
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (written <= 0) return;  // a closed stderr must not end the program
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
};

std::string_view levelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "info";
}

}  // namespace

Result<LogLevel> parseLogLevel(std::string_view text) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    if (levelName(level) == text) return level;
  }
  return fail(ErrorCode::kInvalid, fmt::format("log level \"{}\": use debug, info, warning or error", text));
}

std::string quoteJson(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8Length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else if (length == 1) {
      appendEscaped(out, text.front());
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out + '"';
}

LogField::LogField(std::string_view name, std::string_view text) : key(name), json(quoteJson(text)) {}
LogField::LogField(std::string_view name, bool value) : key(name), json(value ? "true" : "false") {}
LogField::LogField(std::string_view name, std::int64_t number) : key(name), json(fmt::to_string(number)) {}

std::unique_ptr<LogSink> makeStderrSink() { return std::make_unique<StderrSink>(); }

Logger::Logger(LogSink& sink, LogLevel level, std::string component)
    : sink_(&sink), level_(level), component_(std::move(component)) {}

void Logger::debug(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kDebug, message, fields);
}
void Logger::info(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kInfo, message, fields);
}
void Logger::warning(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kWarning, message, fields);
}
void Logger::error(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kError, message, fields);
}

Logger Logger::named(std::string component) const { return Logger(*sink_, level_, std::move(component)); }

void Logger::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  if (level < level_) return;
  const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
  std::string line =
      fmt::format(R"({{"time":"{}","level":"{}","component":{},"msg":{})", formatMicroTime(now),
                  levelName(level), quoteJson(component_), quoteJson(message));
  for (const LogField& field : fields) line += fmt::format(",{}:{}", quoteJson(field.key), field.json);
  line += '}';
  sink_->write(line);
}

}  // namespace trainyard::base
