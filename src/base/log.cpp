#include "base/log.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/json_text.h"

namespace trainyard::base {
namespace {

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

// Returns a JSON string without its quotes; it has no line breaks.
std::string_view bare(std::string_view json) { return json.substr(1, json.size() - 2); }

// Keeps the quotes if the end of the text would be ambiguous without them.
std::string_view shortest(std::string_view json) {
  const bool quoted = json.starts_with('"');
  const bool clear =
      quoted && json.size() > 2 && bare(json).find_first_of(" =\"\\") == std::string_view::npos;
  return clear ? bare(json) : json;
}

}  // namespace

Result<LogFormat> parseLogFormat(std::string_view text) {
  if (text == "json") return LogFormat::kJson;
  if (text == "text") return LogFormat::kText;
  return fail(ErrorCode::kInvalid, fmt::format("log format \"{}\": use json or text", text));
}

std::string formatLogLine(LogFormat format, WallTime time, LogLevel level, std::string_view component,
                          std::string_view message, std::initializer_list<LogField> fields) {
  if (format == LogFormat::kText) {
    std::string line = fmt::format("{} {:<7} {}: {}", formatMicroTime(time), levelName(level),
                                   bare(quoteJson(component)), bare(quoteJson(message)));
    for (const LogField& field : fields)
      line += fmt::format(" {}={}", shortest(quoteJson(field.key)), shortest(field.json));
    return line;
  }
  std::string line =
      fmt::format(R"({{"time":"{}","level":"{}","component":{},"msg":{})", formatMicroTime(time),
                  levelName(level), quoteJson(component), quoteJson(message));
  for (const LogField& field : fields) line += fmt::format(",{}:{}", quoteJson(field.key), field.json);
  line += '}';
  return line;
}

Result<LogLevel> parseLogLevel(std::string_view text) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    if (levelName(level) == text) return level;
  }
  return fail(ErrorCode::kInvalid, fmt::format("log level \"{}\": use debug, info, warning or error", text));
}

LogField::LogField(std::string_view name, std::string_view text) : key(name), json(quoteJson(text)) {}
LogField::LogField(std::string_view name, bool value) : key(name), json(value ? "true" : "false") {}
LogField::LogField(std::string_view name, std::int64_t number) : key(name), json(fmt::to_string(number)) {}

std::unique_ptr<LogSink> makeStderrSink() { return std::make_unique<StderrSink>(); }

Logger::Logger(LogSink& sink, LogLevel level, std::string component, LogFormat format)
    : sink_(&sink), level_(level), component_(std::move(component)), format_(format) {}

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

Logger Logger::named(std::string component) const {
  return Logger(*sink_, level_, std::move(component), format_);
}

void Logger::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  if (level < level_) return;
  const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
  sink_->write(formatLogLine(format_, now, level, component_, message, fields));
}

}  // namespace trainyard::base
