#include "operator/console/console.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "operator/console/answers.h"
#include "operator/console/redacted.h"
#include "operator/console/tried_jobs.h"
#include "operator/simulation_json.h"

namespace trainyard::operator_::console {
namespace {

using std::chrono::seconds;

constexpr base::Instant::duration kTick = seconds(1);
constexpr base::Instant::duration kRecount = seconds(30);  // for values that depend on time alone
constexpr base::Instant::duration kQuiet = seconds(15);    // then a comment is sent
constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20;
constexpr const char* kJson = "application/json";
constexpr const char* kNotSeen = "there is no such TrainingJob, or you may not read it";
constexpr const char* kNotRead = "the operator has not read the cluster yet";

std::string valueOf(const std::vector<std::pair<std::string, std::string>>& query, std::string_view key) {
  const auto found =
      std::find_if(query.begin(), query.end(), [&](const auto& each) { return each.first == key; });
  return found == query.end() ? std::string() : found->second;
}

// 0 for an empty text; -1 for text that is not a number, which every bounds check refuses.
int numberOf(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : text.empty() ? 0 : -1;
}

int statusOf(const base::Error& error) {
  if (error.code == base::ErrorCode::kUnauthorized) return 401;
  return error.code == base::ErrorCode::kThrottled ? 429 : 503;
}

// Does not reveal what went wrong between the console and the API server.
std::string_view messageOf(const base::Error& error) {
  switch (statusOf(error)) {
    case 401: return "no token, or one that the API server does not accept";
    case 429: return "too many requests at once; try again in a moment";
    default: return "the API server cannot check permissions now; try again in a moment";
  }
}

Access::Gone goneOf(const std::shared_ptr<net::Exchange>& exchange) {
  return [exchange] { return exchange->clientGone(); };
}

bool sameCluster(const model::Snapshot& a, const model::Snapshot& b) {
  return a.nodes.isSameAs(b.nodes) && a.pods.isSameAs(b.pods) && a.jobs.isSameAs(b.jobs) &&
         a.queues.isSameAs(b.queues) && a.namespaces.isSameAs(b.namespaces) &&
         a.policy.topology == b.policy.topology;
}

}  // namespace

// Shared by all steps: copying the body for each would be most of a request's cost.
struct Console::SentJobs {
  std::string json;
  std::shared_ptr<void> counts;  // counts the body against the server's maxBodiesBytes
};

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
  if (simulates) return answerSimulate(exchange, token, std::move(request));
  if (request.path() == "/api/stream") return openStream(exchange, token);
  const Query query = readQuery(request.query());
  if (request.path() == "/api/job") return answerJob(exchange, token, query);
  answerWhatIf(exchange, token, query);
}

void Console::withFacts(std::function<void(bool)> then) {
  if (known_ && deps_.executor.now() - factsAt_ < kTick) return then(true);
  waiting_.push_back(std::move(then));
  if (std::exchange(asking_, true)) return;
  deps_.snapshot([this, alive = alive_](std::optional<model::Snapshot> snapshot) {
    if (!*alive) return;
    takeSnapshot(std::move(snapshot));
  });
}

void Console::takeSnapshot(std::optional<model::Snapshot> snapshot) {
  asking_ = false;
  factsAt_ = deps_.executor.now();
  if (snapshot) {
    const bool stale = factsAt_ - countedAt_ > kRecount;
    if (!known_ || stale || !sameCluster(*snapshot, facts_.snapshot)) {
      facts_.follow(std::move(*snapshot));
      described_.clear();
      countedAt_ = factsAt_;
    }
    known_ = true;
  }
  for (auto& each : std::exchange(waiting_, {})) each(known_);
}

// Calls `then` with the caller's rights to these namespaces, or replies with an error.
void Console::withViewer(const ExchangePtr& exchange, const std::string& token, Names namespaces,
                         std::function<void(const Viewer&)> then) {
  withFacts([this, exchange, token, namespaces = std::move(namespaces), then = std::move(then)](bool known) {
    if (!known) return exchange->reply(refusal(503, kNotRead));
    access_.viewerOf(token, namespaces, goneOf(exchange), [exchange, then](base::Result<Viewer> viewer) {
      if (!viewer) return exchange->reply(refusal(statusOf(viewer.error()), messageOf(viewer.error())));
      then(*viewer);
    });
  });
}

void Console::openStream(const ExchangePtr& exchange, const std::string& token) {
  withFacts([this, exchange, token](bool known) {
    if (!known) return exchange->reply(refusal(503, kNotRead));
    access_.viewerOf(token, facts_.jobNamespaces, goneOf(exchange),
                     [this, exchange, token](base::Result<Viewer> viewer) {
                       if (!viewer)
                         return exchange->reply(refusal(statusOf(viewer.error()), messageOf(viewer.error())));
                       const auto stream = std::make_shared<Stream>(
                           Stream{.exchange = exchange, .token = token, .tenant = tenantOf(viewer->user)});
                       admitStream(stream, *viewer);
                     });
  });
}

void Console::admitStream(const StreamPtr& stream, const Viewer& viewer) {
  streams_.remove_if([](const StreamPtr& each) { return each->exchange->clientGone(); });
  const auto own = std::count_if(streams_.begin(), streams_.end(),
                                 [&](const StreamPtr& each) { return each->tenant == stream->tenant; });
  if (streams_.size() >= kMaxStreams || static_cast<std::size_t>(own) >= kMaxStreamsOfTenant)
    return stream->exchange->reply(refusal(429, "too many pages are open; close one"));
  net::HttpResponse head = makeAnswer(200, "text/event-stream", "");
  head.headers.emplace_back("X-Accel-Buffering", "no");  // keeps proxies from buffering
  stream->exchange->startStream(std::move(head));
  streams_.push_back(stream);
  send(*stream, viewer);
  if (std::exchange(ticking_, true)) return;
  deps_.executor.postAfter(kTick, [this, alive = alive_] {
    if (*alive) tick();
  });
}

void Console::tick() {
  streams_.remove_if([](const StreamPtr& each) { return each->exchange->clientGone(); });
  ticking_ = !streams_.empty();
  if (!ticking_) return;
  deps_.executor.postAfter(kTick, [this, alive = alive_] {
    if (*alive) tick();
  });
  for (const StreamPtr& stream : streams_) keepAlive(*stream);
  withFacts([this](bool) {
    const auto streams = streams_;  // feed() may close some
    for (const StreamPtr& stream : streams) feed(stream);
  });
}

void Console::feed(const StreamPtr& stream) {
  if (std::exchange(stream->busy, true)) return;
  const auto take = [this, stream](base::Result<Viewer> viewer) {
    stream->busy = false;
    if (!viewer)
      return close(stream, statusOf(viewer.error()) == 401 ? "denied" : "trouble", messageOf(viewer.error()));
    send(*stream, *viewer);
    if (stream->bytes > kMaxStreamBytes) close(stream, "again", "");
  };
  access_.viewerOf(stream->token, facts_.jobNamespaces, goneOf(stream->exchange), take);
}

void Console::send(Stream& stream, const Viewer& viewer) {
  const Sections now = sectionsFor(viewer);
  std::string out;
  if (now != stream.sent) {
    for (std::size_t i = 0; i < now->size(); ++i) {
      const bool same = stream.sent && i < stream.sent->size() && (*stream.sent)[i] == (*now)[i];
      if (!same) out += sentEvent((*now)[i].name, (*now)[i].json);
    }
  }
  if (!out.empty()) out += sentEvent("ready", "null");
  // The first batch is not counted: it may be large and does not show whether the reader keeps up.
  if (stream.sent) stream.bytes += out.size();
  stream.sent = now;
  if (out.empty()) return;
  stream.lastWrite = deps_.executor.now();
  stream.exchange->write(std::move(out));
}

// Also covers streams that wait for a review of their rights, which takes long with many viewers: the page
// takes silence for a broken connection.
void Console::keepAlive(Stream& stream) {
  const base::Instant now = deps_.executor.now();
  if (!stream.sent || now - stream.lastWrite < kQuiet) return;
  stream.lastWrite = now;
  stream.exchange->write(":\n\n");
}

void Console::close(const StreamPtr& stream, std::string_view event, std::string_view why) {
  stream->exchange->write(sentEvent(event, fmt::format("\"{}\"", why)));
  stream->exchange->end();
  streams_.remove(stream);
}

// Caches the sections by viewer, because most viewers have the same rights.
Console::Sections Console::sectionsFor(const Viewer& viewer) {
  for (const auto& [owner, sections] : described_) {
    if (owner == viewer) return sections;
  }
  if (described_.size() >= kMaxStreams) described_.clear();
  return described_.emplace_back(viewer, std::make_shared<std::vector<Section>>(describe(facts_, viewer)))
      .second;
}

void Console::answerJob(const ExchangePtr& exchange, const std::string& token, const Query& query) {
  const std::string ns = valueOf(query, "namespace");
  const std::string name = valueOf(query, "name");
  if (!plainName(ns) || !plainName(name)) return exchange->reply(refusal(404, kNotSeen));
  withViewer(exchange, token, {ns}, [this, exchange, ns, name](const Viewer& viewer) {
    if (findJob(facts_, viewer, ns, name) == nullptr) return exchange->reply(refusal(404, kNotSeen));
    const std::string tenant = tenantOf(viewer.user);
    const auto begin = [this, exchange, ns, name, viewer, tenant] {
      if (exchange->clientGone()) return eventTurns_.leave(tenant);
      listEvents(ns, name, [this, exchange, ns, name, viewer, tenant](const std::string& events) {
        const model::Job* job = findJob(facts_, viewer, ns, name);
        if (job == nullptr) {
          exchange->reply(refusal(404, kNotSeen));
        } else {
          exchange->reply(makeAnswer(200, kJson, describeJobPage(facts_, viewer, *job, events)));
        }
        eventTurns_.leave(tenant);
      });
    };
    if (!eventTurns_.take(tenant, begin))
      exchange->reply(refusal(429, "too many job pages are requested at once; try again in a moment"));
  });
}

// Passes an empty string if the Events cannot be read: conditions cover most of their content.
void Console::listEvents(const std::string& ns, const std::string& name,
                         std::function<void(const std::string&)> then) {
  // Uses core/v1, which supports selection by involvedObject on every version of Kubernetes.
  kube::ApiRequest request{.method = net::Method::kGet,
                           .path = fmt::format("/api/v1/namespaces/{}/events", ns)};
  request.query = {
      {"fieldSelector", fmt::format("involvedObject.kind=TrainingJob,involvedObject.name={}", name)},
      {"limit", "200"}};
  request.timeout = seconds(5);
  request.maxAnswerBytes = kMaxEventBytes;
  deps_.api.request(std::move(request),
                    [then = std::move(then), alive = alive_](base::Result<kube::ApiResponse> events) {
                      if (*alive) then(events ? events->body : std::string());
                    });
}

void Console::answerWhatIf(const ExchangePtr& exchange, const std::string& token, const Query& query) {
  WhatIfJob whatIfJob{.ns = valueOf(query, "namespace"), .queue = valueOf(query, "queue")};
  whatIfJob.members = numberOf(valueOf(query, "members"));
  whatIfJob.gpus = numberOf(valueOf(query, "gpus"));
  whatIfJob.level = valueOf(query, "level");
  whatIfJob.priority = valueOf(query, "priority");
  whatIfJob.preemptible = valueOf(query, "preemptible") == "true";
  whatIfJob.hours = numberOf(valueOf(query, "hours"));
  if (!plainName(whatIfJob.ns))
    return exchange->reply(refusal(400, "namespace: is missing, or not a valid name"));
  withViewer(exchange, token, {whatIfJob.ns}, [this, exchange, whatIfJob](const Viewer& viewer) {
    if (!viewer.sees(whatIfJob.ns))
      return exchange->reply(refusal(403, "namespace: you may not read TrainingJobs there"));
    tryWhatIf(exchange, whatIfJob, viewer);
  });
}

void Console::tryWhatIf(const ExchangePtr& exchange, const WhatIfJob& whatIfJob, const Viewer& viewer) {
  const auto job = jobOf(whatIfJob, facts_.snapshot.now);
  if (!job) return exchange->reply(refusal(400, job.error().message));
  Turn turn = turnOf(exchange, viewer);
  if (!turn) return;
  tryOut(exchange, std::move(turn),
         [viewer, namespaces = facts_.namespaces, job = *job](core::CycleInput input) {
           // The console made the template, so it needs no check.
           input.feedback[job->key].templateError = "";
           const auto forecast = core::forecast(std::move(input), {job});
           return makeAnswer(200, kJson, describeForecast(forecast.front(), viewer, namespaces));
         });
}

// Identifies the caller and takes its turn before parsing: one body at a time, none of unknown callers.
void Console::answerSimulate(const ExchangePtr& exchange, const std::string& token,
                             net::ServerRequest request) {
  const auto sent = std::make_shared<const SentJobs>(
      SentJobs{.json = std::move(request.body), .counts = std::move(request.countsBody)});
  withViewer(exchange, token, {}, [this, exchange, token, sent](const Viewer& viewer) {
    if (sent->json.size() > kMaxTriedBytes)
      return exchange->reply(refusal(413, "the jobs are too large for one request"));
    Turn turn = turnOf(exchange, viewer);
    if (!turn) return;
    deps_.offload(
        [this, exchange, token, sent, turn = std::move(turn), alive = alive_]() mutable -> base::Task {
          return [this, exchange, token, sent, namespaces = namespacesOf(sent->json), turn = std::move(turn),
                  alive] {
            if (*alive) admitJobs(exchange, token, sent, namespaces, turn);
          };
        });
  });
}

void Console::admitJobs(const ExchangePtr& exchange, const std::string& token, const SentJobsPtr& sent,
                        const base::Result<Names>& namespaces, Turn turn) {
  if (!namespaces) return exchange->reply(refusal(400, namespaces.error().message));
  withViewer(
      exchange, token, *namespaces,
      [this, exchange, token, sent, asked = *namespaces, turn](const Viewer& viewer) {
        const auto unseen =
            std::find_if(asked.begin(), asked.end(), [&](const std::string& ns) { return !viewer.sees(ns); });
        if (unseen != asked.end())
          return exchange->reply(
              refusal(403, fmt::format("you may not read TrainingJobs in namespace {}", *unseen)));
        // The answer may name jobs of other namespaces.
        withViewer(exchange, token, facts_.jobNamespaces, [this, exchange, sent, turn](const Viewer& whole) {
          tryJobs(exchange, sent, whole, turn);
        });
      });
}

void Console::tryJobs(const ExchangePtr& exchange, SentJobsPtr sent, const Viewer& viewer, Turn turn) {
  tryOut(exchange, std::move(turn),
         [sent = std::move(sent), viewer, namespaces = facts_.namespaces](core::CycleInput input) {
           const auto jobs = readTriedJobs(sent->json, input);
           if (!jobs)
             return refusal(jobs.error().code == base::ErrorCode::kAlreadyExists ? 409 : 400,
                            jobs.error().message);
           Simulation simulation{.now = input.snapshot.now, .policy = "the operator"};
           for (core::Forecast& each : operator_::tryJobs(std::move(input), *jobs))
             simulation.forecasts.push_back(redacted(std::move(each), viewer, namespaces));
           return makeAnswer(200, kJson, simulationJson(simulation));
         });
}

// Null if the client has left or was asked to try again later.
Console::Turn Console::turnOf(const ExchangePtr& exchange, const Viewer& viewer) {
  if (exchange->clientGone()) return nullptr;
  auto turn = whatIfTurns_.take(tenantOf(viewer.user));
  if (turn) return std::move(*turn);
  exchange->reply(refusal(429, turn.error().message));
  return nullptr;
}

void Console::tryOut(const ExchangePtr& exchange, Turn turn,
                     std::function<net::HttpResponse(core::CycleInput)> work) {
  if (exchange->clientGone()) return;
  core::CycleInput input;
  input.snapshot = facts_.snapshot;
  input.settings = deps_.settings;
  deps_.offload([exchange, input = std::move(input), work = std::move(work),
                 turn = std::move(turn)]() mutable -> base::Task {
    auto answer = std::make_shared<net::HttpResponse>(work(std::move(input)));
    // The turn ends on the executor's thread.
    return [exchange, answer, turn = std::move(turn)]() mutable {
      turn.reset();
      exchange->reply(std::move(*answer));
    };
  });
}

}  // namespace trainyard::operator_::console
