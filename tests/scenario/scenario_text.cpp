#include "scenario/scenario_text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/quantity.h"
#include "model/names.h"

namespace trainyard::test {

void refuse(std::string what) { throw Nonsense{std::move(what)}; }

Words splitWords(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::pair<std::string, std::string> splitAttribute(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return {word, ""};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::optional<std::string> after(std::string_view prefix, const std::string& text) {
  if (text.rfind(prefix, 0) != 0) return std::nullopt;
  return text.substr(prefix.size());
}

int readInt(std::string_view text, std::string_view what) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size())
    refuse(fmt::format("{} \"{}\": not a number", what, text));
  return value;
}

bool readYesNo(std::string_view text, std::string_view what) {
  if (text != "yes" && text != "no") refuse(fmt::format("{} \"{}\": expected yes or no", what, text));
  return text == "yes";
}

std::chrono::seconds readDuration(std::string_view text, std::string_view what) {
  static constexpr std::pair<char, int> kUnits[] = {{'h', 3'600}, {'m', 60}, {'s', 1}};
  constexpr std::int64_t kLongest = 1'000'000'000;  // 30 years
  std::int64_t total = 0;
  const std::pair<char, int>* next = std::begin(kUnits);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto* unit =
        digits == rest.size()
            ? std::end(kUnits)
            : std::find_if(next, std::end(kUnits), [&](const auto& u) { return u.first == rest[digits]; });
    if (digits == 0 || digits > 9 || unit == std::end(kUnits)) break;
    total += std::int64_t{readInt(rest.substr(0, digits), what)} * unit->second;
    next = unit + 1;
    rest.remove_prefix(digits + 1);
  }
  if (text.empty() || !rest.empty() || total > kLongest)
    refuse(fmt::format("{} \"{}\": expected a time such as 90s, 1m30s or 2h", what, text));
  return std::chrono::seconds(total);
}

void expandNames(const std::string& word, Words& names) {
  const std::size_t dots = word.find("..");
  if (dots == std::string::npos) {
    names.push_back(word);
    return;
  }
  const std::string first = word.substr(0, dots);
  const std::string last = word.substr(dots + 2);
  const std::size_t digits = first.find_last_not_of("0123456789") + 1;
  if (digits >= first.size() || digits >= last.size() || first.substr(0, digits) != last.substr(0, digits)) {
    refuse(fmt::format("range \"{}\": expected e.g. n3..n7", word));
  }
  const int from = readInt(first.substr(digits), "range");
  const int to = readInt(last.substr(digits), "range");
  if (to < from || to - from > 10'000) refuse(fmt::format("range \"{}\": counts down or too far", word));
  for (int i = from; i <= to; ++i) {
    names.push_back(fmt::format("{}{:0{}}", first.substr(0, digits), i, first.size() - digits));
  }
}

bool readAmount(const std::string& name, const std::string& value, Amounts& amounts) {
  std::string resource;
  if (name == "gpus") {
    resource = model::names::kGpuResource;
  } else if (name == "storage") {
    resource = "ephemeral-storage";
  } else if (name == "cpu" || name == "memory" || name == "pods") {
    resource = name;
  } else if (const auto other = after("resource:", name)) {
    resource = *other;
  } else {
    return false;
  }
  if (const auto quantity = base::Quantity::parse(value); !quantity) refuse(quantity.error().message);
  const auto found =
      std::find_if(amounts.begin(), amounts.end(), [&](const auto& each) { return each.first == resource; });
  if (found != amounts.end()) {
    found->second = value;
  } else {
    amounts.emplace_back(std::move(resource), value);
  }
  return true;
}

}  // namespace trainyard::test
