#include "operator/nodes/api_calls.h"

#include <cstddef>
#include <utility>

namespace trainyard::operator_ {
namespace {

struct Sequence {
  ApiCalls calls;
  std::shared_ptr<const bool> alive;
  ApiCallsDone done;
};

void makeFrom(const std::shared_ptr<const Sequence>& sequence, std::size_t next) {
  if (next == sequence->calls.size()) return sequence->done({});
  sequence->calls[next]([sequence, next](const base::Result<kube::ApiResponse>& answer) {
    if (!*sequence->alive) return;
    if (!answer) return sequence->done(base::fail(answer.error()));
    makeFrom(sequence, next + 1);
  });
}

}  // namespace

void makeInOrder(ApiCalls calls, const std::shared_ptr<const bool>& alive, ApiCallsDone done) {
  makeFrom(std::make_shared<const Sequence>(Sequence{std::move(calls), alive, std::move(done)}), 0);
}

kube::ApiCallback tolerating(base::ErrorCode code, kube::ApiCallback done) {
  return [code, done = std::move(done)](base::Result<kube::ApiResponse> answer) {
    if (!answer && answer.error().code == code) return done(kube::ApiResponse{});
    done(std::move(answer));
  };
}

}  // namespace trainyard::operator_
