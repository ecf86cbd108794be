#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::replay {

// A CSV file whose columns are found by their names in the first line; blanks around names and values do not
// count, nor do empty lines. Quoted fields are refused: no trace has them. Every error names file, line and
// column.
class CsvTable {
 public:
  struct Column {
    std::string name;
    std::size_t index = 0;
  };

  // `file` is what errors call it. kInvalid: no header, a column twice, a row with another number of fields.
  [[nodiscard]] static base::Result<CsvTable> parse(std::string file, std::string text);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // kInvalid when there is none, with the names of those that there are.
  [[nodiscard]] base::Result<Column> column(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::size_t row, const Column& column) const;
  // kInvalid unless a whole decimal number of this range is all there is.
  [[nodiscard]] base::Result<std::int64_t> integer(std::size_t row, const Column& column, std::int64_t least,
                                                   std::int64_t most) const;
  // The same for finite decimal fractions.
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
  // Offsets and lengths: the table may be moved, and with it a short text.
  std::vector<std::pair<std::size_t, std::size_t>> fields_;
};

}  // namespace trainyard::replay
