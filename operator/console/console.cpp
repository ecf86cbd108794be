#include "operator/console/console.h"

#include <string>

#include "operator/console/answers.h"

namespace trainyard::operator_::console {

Console::Console(Dependencies dependencies)
    : access_(dependencies.api, dependencies.executor),
      facts_(dependencies.executor, std::move(dependencies.snapshot)),
      callers_(facts_, access_),
      runner_(dependencies.executor, facts_, std::move(dependencies.offload), dependencies.settings),
      streams_(dependencies.executor, facts_, access_, callers_),
      jobs_(dependencies.api, facts_, callers_),
      trials_(facts_, callers_, runner_) {}

void Console::answer(net::ServerRequest request, std::shared_ptr<net::Exchange> exchange) {
  const bool simulates = request.path() == "/api/simulate";
  if (request.method != (simulates ? net::Method::kPost : net::Method::kGet))
    return exchange->reply(
        refusal(405, simulates ? "only POST of jobs" : "only GET: the console is read-only"));
  if (const auto file = findPageFile(request.path()))
    return exchange->reply(makeAnswer(200, file->type, std::string(file->text)));
  const bool known = simulates || request.path() == "/api/stream" || request.path() == "/api/job" ||
                     request.path() == "/api/what-if";
  if (!known) return exchange->reply(refusal(404, "there is no such page"));
  const std::string token = net::bearerToken(request.headers);
  if (token.empty()) return exchange->reply(refusal(401, "a token is required: Authorization: Bearer TOKEN"));
  if (simulates) return trials_.answerSimulate(exchange, token, std::move(request));
  if (request.path() == "/api/stream") return streams_.open(exchange, token);
  const Query query = readQuery(request.query());
  if (request.path() == "/api/job") return jobs_.answer(exchange, token, query);
  trials_.answerWhatIf(exchange, token, query);
}

}  // namespace trainyard::operator_::console
