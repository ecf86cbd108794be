// Runs a target on its seeds, and on each of them truncated at every position. Every test run thus checks the
// starting points of `make fuzz`, and known findings stay fixed.
//
// fuzz_replay TARGET SEEDS      seeds/TARGET.txt; seeds are separated by lines "%%"
// fuzz_replay TARGET --raw FILE…  inputs as the fuzzer left them, each with the time that it took

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/targets.h"

namespace {

using trainyard::fuzz::Target;

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::cerr << "fuzz_replay: " << path << ": cannot be read\n";
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> splitSeeds(const std::string& text) {
  static constexpr std::string_view kSeparator = "\n%%\n";
  std::vector<std::string> seeds;
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = text.find(kSeparator, at);
    seeds.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + kSeparator.size();
  }
  // The file ends with a newline that is not part of the last seed.
  if (seeds.back().ends_with('\n')) seeds.back().pop_back();
  return seeds;
}

const Target* findTarget(std::string_view name) {
  for (const Target& each : trainyard::fuzz::allTargets()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

// A copy on the heap of exactly the input's size: the sanitizer detects a read past its end.
void run(const Target& target, std::string_view input) {
  const std::vector<char> copy(input.begin(), input.end());
  target.run({copy.data(), copy.size()});
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const Target* target = words.empty() ? nullptr : findTarget(words[0]);
  if (target == nullptr || words.size() < 2) {
    std::cerr << "usage: fuzz_replay TARGET SEEDS | fuzz_replay TARGET --raw FILE...; targets:";
    for (const Target& each : trainyard::fuzz::allTargets()) std::cerr << ' ' << each.name;
    std::cerr << '\n';
    return 2;
  }
  if (words[1] == "--raw" && words.size() >= 3) {
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::string input = readFile(words[i]);
      const auto begin = std::chrono::steady_clock::now();
      run(*target, input);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      std::cout << took.count() << " ms, " << input.size() << " bytes: " << words[i] << '\n';
    }
    return 0;
  }
  std::size_t runs = 0;
  for (const std::string& seed : splitSeeds(readFile(words[1]))) {
    for (std::size_t length = 0; length <= seed.size(); ++length, ++runs) {
      run(*target, std::string_view(seed).substr(0, length));
    }
  }
  std::cout << target->name << ": " << runs << " inputs\n";
  return runs > 0 ? 0 : 1;
}
