#include "base/pattern_set.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <re2/re2.h>
#include <re2/set.h>

namespace trainyard::base {
namespace {

// The states that a set caches between texts; beyond this size RE2 drops and rebuilds them.
constexpr std::int64_t kMemory = 64 << 20;

RE2::Options options() {
  RE2::Options options;
  // Logs contain any bytes; in Latin-1 every byte is valid, and the number of states stays small.
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(kMemory);
  return options;
}

}  // namespace

struct PatternSet::Impl {
  explicit Impl(std::span<const std::string> all)
      : set(options(), RE2::UNANCHORED), patterns(all.begin(), all.end()) {}
  RE2::Set set;
  std::vector<std::string> patterns;
};

Result<PatternSet> PatternSet::compile(std::span<const std::string> patterns) {
  auto impl = std::make_shared<Impl>(patterns);
  for (const std::string& pattern : patterns) {
    std::string error;
    if (impl->set.Add(pattern, &error) < 0) return fail(ErrorCode::kInvalid, std::move(error));
  }
  if (!impl->set.Compile()) return fail(ErrorCode::kInvalid, "the patterns together are too large");
  return PatternSet(std::move(impl));
}

void PatternSet::match(std::string_view text, std::vector<int>& found) const {
  found.clear();
  RE2::Set::ErrorInfo error{};
  const re2::StringPiece piece(text.data(), text.size());
  if (impl_->set.Match(piece, &found, &error)) return std::sort(found.begin(), found.end());
  if (error.kind == RE2::Set::kNoError) return;
  // The states exceed the memory limit: match one by one, which is slow but correct.
  for (std::size_t i = 0; i < impl_->patterns.size(); ++i) {
    if (RE2::PartialMatch(piece, RE2(impl_->patterns[i], options()))) found.push_back(static_cast<int>(i));
  }
}

std::string patternError(const std::string& pattern) {
  const RE2 expression(pattern, options());
  return expression.ok() ? std::string() : expression.error();
}

}  // namespace trainyard::base
