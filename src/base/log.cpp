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

}  // namespace

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
