#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning" or "error"; kInvalid has the text.
[[nodiscard]] Result<LogLevel> parseLogLevel(std::string_view text);

enum class LogFormat {
  kJson,  // {"time":…,"level":…,"component":…,"msg":…,KEY:VALUE…}
  kText,  // TIME LEVEL COMPONENT: MESSAGE KEY=VALUE…, for people
};

// "json" or "text"; kInvalid has the text.
[[nodiscard]] Result<LogFormat> parseLogFormat(std::string_view text);

// One key of a log line. Numbers and booleans keep their type in JSON.
struct LogField {
  LogField(std::string_view name, std::string_view text);
  LogField(std::string_view name, const std::string& text) : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, bool value);
  LogField(std::string_view name, std::int64_t number);
  LogField(std::string_view name, int number) : LogField(name, static_cast<std::int64_t>(number)) {}
  LogField(std::string_view name, std::size_t number) : LogField(name, static_cast<std::int64_t>(number)) {}

  std::string_view key;
  std::string json;
};

// One line without newline, whatever the texts contain: both formats escape as JSON does.
[[nodiscard]] std::string formatLogLine(LogFormat format, WallTime time, LogLevel level,
                                        std::string_view component, std::string_view message,
                                        std::initializer_list<LogField> fields = {});

// The destination of finished lines.
class LogSink {
 public:
  LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  virtual ~LogSink() = default;
  // One line without newline. Safe from any thread.
  virtual void write(std::string_view line) = 0;
};

// Writes lines to standard error, each by one write(2), so that lines of several threads never mix.
[[nodiscard]] std::unique_ptr<LogSink> makeStderrSink();

// Writes lines: time, level, component, message, then the fields. Cheap to copy; the sink must outlive it.
class Logger {
 public:
  Logger(LogSink& sink, LogLevel level, std::string component, LogFormat format = LogFormat::kJson);

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void warning(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const;

  // A copy of this logger with another component name.
  [[nodiscard]] Logger named(std::string component) const;

 private:
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;

  LogSink* sink_;
  LogLevel level_;
  std::string component_;
  LogFormat format_;
};

}  // namespace trainyard::base
