#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::replay {

// A CSV file with columns found by their names in the first line. Blanks around names and values are ignored,
// and so are empty lines. Quoted fields are refused: no trace has them. Every error names file, line and
// column.
class CsvTable {
 public:
  struct Column {
    std::string name;
    std::size_t index = 0;
  };

  // `file` is the name in errors. kInvalid: no header, a duplicate column, a wrong number of fields in a row.
  [[nodiscard]] static base::Result<CsvTable> parse(std::string file, std::string text);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // kInvalid, with the existing names, if there is no such column.
  [[nodiscard]] base::Result<Column> column(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::size_t row, const Column& column) const;
  // kInvalid unless the field is a whole decimal number in this range.
  [[nodiscard]] base::Result<std::int64_t> integer(std::size_t row, const Column& column, std::int64_t least,
                                                   std::int64_t most) const;
  // As integer(), for finite decimal fractions.
  [[nodiscard]] base::Result<double> number(std::size_t row, const Column& column, double least,
                                            double most) const;
  [[nodiscard]] base::Error error(std::size_t row, const Column& column, std::string_view what) const;

 private:
  struct Row {
    std::size_t line = 0;
    std::size_t firstField = 0;
  };

  std::string file_;
  std::string text_;
  std::vector<std::string> names_;
  std::vector<Row> rows_;
  // Offsets and lengths instead of views: the table may be moved, and with it a short text.
  std::vector<std::pair<std::size_t, std::size_t>> fields_;
};

}  // namespace trainyard::replay
