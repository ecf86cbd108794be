#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/rng.h"
#include "codec/exec_credential.h"
#include "codec/kubeconfig.h"
#include "codec/lease.h"
#include "codec/list.h"
#include "codec/status.h"

namespace trainyard {
namespace {

// Returns `text` with a few bytes changed, dropped or doubled, or with its end cut off.
std::string spoil(std::string text, base::Rng& rng) {
  static constexpr std::string_view kLikely = "{}[]\",:\\\n -&*#'|0123456789eEtfn\xff";
  for (std::uint64_t i = 0; i <= rng.below(4) && !text.empty(); ++i) {
    const auto at = static_cast<std::size_t>(rng.below(text.size()));
    switch (rng.below(4)) {
      case 0: text[at] = kLikely[static_cast<std::size_t>(rng.below(kLikely.size()))]; break;
      case 1: text.erase(at, 1 + static_cast<std::size_t>(rng.below(8))); break;
      case 2: text.insert(at, text.substr(at, static_cast<std::size_t>(rng.below(16)))); break;
      default: text.resize(rng.below(4) == 0 ? at : text.size()); break;
    }
  }
  return text;
}

TEST_CASE("spoilt texts are read or refused and what is read can be written again") {
  const std::string list =
      R"({"kind":"PodList","metadata":{"resourceVersion":"12","continue":"a\u00e9"},"items":[{"a":[1,2.5e3,null]},)"
      R"({"metadata":{"name":"b","x":"\"]}\\"}}]})";
  const std::string event =
      R"({"type":"MODIFIED","object":{"metadata":{"resourceVersion":"5","labels":{"a":"b\n"}},"spec":[{"c":-1}]}})";
  const std::string error =
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","details":{"causes":[{"field":"f"}]}}})";
  const std::string lease =
      R"({"metadata":{"resourceVersion":"3","name":"n"},"spec":{"holderIdentity":"x","leaseDurationSeconds":10}})";
  const std::string credential =
      R"({"apiVersion":"v","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}})";
  const std::string kubeconfig =
      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
      "clusters:\n- name: k\n  cluster: &a {server: 'https://h', certificate-authority-data: Q0E=}\n"
      "users:\n- name: u\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: "
      "[\"1\"]}}\n";

  base::Rng rng(20'261'121);
  std::size_t read = 0;
  for (int round = 0; round < 3000; ++round) {
    if (const auto result = codec::decodeList(spoil(list, rng))) {
      ++read;
      for (const std::string& item : result->items) CHECK(item.starts_with('{'));
    }
    for (const std::string& line : {event, error}) {
      if (const auto result = codec::decodeWatchEvent(spoil(line, rng))) ++read;
    }
    if (const auto result = codec::decodeLease(spoil(lease, rng))) {
      ++read;
      const auto again = codec::decodeLease(codec::encodeLease(*result, result->record));
      REQUIRE(again);
      CHECK(again->record == result->record);
    }
    if (codec::decodeExecCredential(spoil(credential, rng), "v")) ++read;
    if (const auto result = codec::decodeKubeconfig(spoil(kubeconfig, rng), "f")) {
      ++read;
    } else {
      CHECK(result.error().message.starts_with("f: "));
    }
    (void)codec::errorFromAnswer(422, spoil(error.substr(25), rng), "GET /x");
  }
  // Some texts must still be readable and some not: the corruption has a useful strength.
  CHECK(read > 2000);
  CHECK(read < 15'000);
}

}  // namespace
}  // namespace trainyard
