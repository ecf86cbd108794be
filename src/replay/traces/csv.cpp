#include "replay/traces/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard::replay {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

using Span = std::pair<std::size_t, std::size_t>;

Span trimmed(std::string_view text, std::size_t begin, std::size_t end) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (begin < end && blank(text[begin])) ++begin;
  while (end > begin && blank(text[end - 1])) --end;
  return {begin, end - begin};
}

template <typename T>
std::optional<T> parseAll(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<CsvTable> CsvTable::parse(std::string file, std::string text) {
  CsvTable table;
  table.file_ = std::move(file);
  table.text_ = std::move(text);
  const std::string_view all = table.text_;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    ++line;
    const std::size_t next = end + 1;
    if (trimmed(all, begin, end).second == 0) {
      begin = next;
      continue;
    }
    if (const auto quote = all.find('"', begin); quote < end) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} line {}: quoted fields are not understood", table.file_, line));
    }
    const std::size_t first = table.fields_.size();
    for (std::size_t field = begin; field <= end;) {
      const std::size_t comma = std::min(all.find(',', field), end);
      table.fields_.push_back(trimmed(all, field, comma));
      field = comma + 1;
    }
    begin = next;
    const std::size_t count = table.fields_.size() - first;
    if (table.names_.empty()) {
      for (const auto& [at, length] : table.fields_) table.names_.emplace_back(all.substr(at, length));
      table.fields_.clear();
      auto sorted = table.names_;
      std::sort(sorted.begin(), sorted.end());
      if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
        return fail(ErrorCode::kInvalid,
                    fmt::format("{} line {}: column {} occurs twice", table.file_, line, *twice));
      }
      continue;
    }
    if (count != table.names_.size()) {
      return fail(ErrorCode::kInvalid, fmt::format("{} line {}: {} fields, but the header names {}",
                                                   table.file_, line, count, table.names_.size()));
    }
    table.rows_.push_back({line, first});
  }
  if (table.names_.empty())
    return fail(ErrorCode::kInvalid, fmt::format("{}: empty, without a header", table.file_));
  return table;
}

Result<CsvTable::Column> CsvTable::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: no column {}; there are {}", file_, name, fmt::join(names_, ", ")));
  }
  return Column{*found, static_cast<std::size_t>(found - names_.begin())};
}

std::string_view CsvTable::text(std::size_t row, const Column& column) const {
  const auto& [at, length] = fields_[rows_[row].firstField + column.index];
  return std::string_view(text_).substr(at, length);
}

Result<std::int64_t> CsvTable::integer(std::size_t row, const Column& column, std::int64_t least,
                                       std::int64_t most) const {
  const std::string_view value = text(row, column);
  const auto parsed = parseAll<std::int64_t>(value);
  if (!parsed) return fail(error(row, column, fmt::format("'{}' is not a whole number", value)));
  if (*parsed < least || *parsed > most) {
    return fail(error(row, column, fmt::format("{} is not between {} and {}", value, least, most)));
  }
  return *parsed;
}

Result<double> CsvTable::number(std::size_t row, const Column& column, double least, double most) const {
  const std::string_view value = text(row, column);
  const auto parsed = parseAll<double>(value);
  if (!parsed || !std::isfinite(*parsed))
    return fail(error(row, column, fmt::format("'{}' is not a number", value)));
  if (*parsed < least || *parsed > most) {
    return fail(error(row, column, fmt::format("{} is not between {} and {}", value, least, most)));
  }
  return *parsed;
}

base::Error CsvTable::error(std::size_t row, const Column& column, std::string_view what) const {
  return {ErrorCode::kInvalid,
          fmt::format("{} line {}, column {}: {}", file_, rows_[row].line, column.name, what)};
}

}  // namespace trainyard::replay
