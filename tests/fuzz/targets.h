#pragma once

#include <span>
#include <string_view>

// The fuzz targets: one function for each parser, in a file of its name. Each passes arbitrary bytes to the
// parser. Beyond surviving, it checks where possible that a parsed value can be written and reads again as
// the same value. libfuzzer.cpp makes a libFuzzer program of each (`make fuzz`); replay.cpp is one program
// that runs the seeds of all of them (unit tests).
namespace trainyard::fuzz {

void base64(std::string_view input);
void execCredential(std::string_view input);
void extenderArgs(std::string_view input);
void failureCases(std::string_view input);
void failureLog(std::string_view input);
void indexSet(std::string_view input);
void job(std::string_view input);
void kubeconfig(std::string_view input);
void lease(std::string_view input);
void lines(std::string_view input);
void list(std::string_view input);
void listenAddress(std::string_view input);
void modelProfile(std::string_view input);
void node(std::string_view input);
void pod(std::string_view input);
void policy(std::string_view input);
void progressReport(std::string_view input);
void quantity(std::string_view input);
void queue(std::string_view input);
void runTimes(std::string_view input);
void scenario(std::string_view input);
void selector(std::string_view input);
void status(std::string_view input);
void strategicMerge(std::string_view input);
void target(std::string_view input);
void time(std::string_view input);
void watchEvent(std::string_view input);
void yaml(std::string_view input);

struct Target {
  std::string_view name;
  void (*run)(std::string_view);
};
[[nodiscard]] std::span<const Target> allTargets();

// Ends the process with a message if the condition does not hold, so that the fuzzer keeps the input.
void require(bool holds, std::string_view what);

// Returns true if the text begins and ends like a JSON object; blanks may follow.
[[nodiscard]] bool looksLikeObject(std::string_view text);

// `text` up to the first newline, and the rest: for targets with two texts.
struct TwoTexts {
  std::string_view first;
  std::string_view second;
};
[[nodiscard]] TwoTexts splitAtNewline(std::string_view text);

}  // namespace trainyard::fuzz
