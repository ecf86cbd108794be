// Serves the in-memory API server over plain HTTP, for the conformance run and for manual requests with curl
// or kubectl.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/event_loop.h"
#include "net/server.h"
#include "sim/api/gc.h"
#include "sim/api/server.h"

namespace {

using namespace trainyard;

constexpr std::chrono::seconds kBookmarkEvery{60};
constexpr std::chrono::milliseconds kStopPoll{200};

volatile std::sig_atomic_t stopRequested = 0;

void onSignal(int) { stopRequested = 1; }

std::vector<std::string> readCrds(const std::vector<std::string>& assignments) {
  std::vector<std::filesystem::path> files;
  for (const auto& place : assignments) {
    if (!std::filesystem::is_directory(place)) {
      files.emplace_back(place);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

// Everything runs on one loop: the HTTP threads only pass requests to it.
class Front {
 public:
  Front(sim::ApiServer& server, base::EventLoop& loop) : server_(server), loop_(loop) {}

  void serve(net::ServerRequest incoming, std::shared_ptr<net::Exchange> exchange) {
    net::HttpRequest request{incoming.method, std::move(incoming.target), std::move(incoming.headers),
                             std::move(incoming.body)};
    loop_.post([this, request = std::move(request), exchange = std::move(exchange)] {
      if (sim::ApiServer::isWatch(request)) {
        watch(request, exchange);
      } else {
        exchange->reply(server_.handle(request));
      }
    });
  }

 private:
  void watch(const net::HttpRequest& request, const std::shared_ptr<net::Exchange>& exchange) {
    auto begun = std::make_shared<bool>(false);
    const auto begin = [exchange, begun] {
      if (!*begun) exchange->startStream({200, {{"Content-Type", "application/json"}}, {}});
      *begun = true;
    };
    sim::WatchSink sink;
    sink.onLine = [exchange, begin](std::string line) {
      begin();
      exchange->write(std::move(line) + "\n");
    };
    sink.onClosed = [exchange, begin] {
      begin();
      exchange->end();
    };
    const auto ticket = server_.openWatch(request, std::move(sink));
    if (!ticket) return exchange->reply(ticket.error());
    begin();
    const auto id = ticket->id;
    if (ticket->timeout) {
      loop_.postAfter(*ticket->timeout, [this, id, exchange] {
        server_.sendBookmark(id);
        server_.closeWatch(id);
        exchange->end();
      });
    }
    sweep(id, exchange);
  }

  void sweep(std::uint64_t id, const std::shared_ptr<net::Exchange>& exchange) {
    loop_.postAfter(kBookmarkEvery, [this, id, exchange] {
      if (exchange->clientGone()) return server_.closeWatch(id);
      server_.sendBookmark(id);
      sweep(id, exchange);
    });
  }

  sim::ApiServer& server_;
  base::EventLoop& loop_;
};

void pollStop(base::EventLoop& loop) {
  if (stopRequested != 0) return loop.stop();
  loop.postAfter(kStopPoll, [&loop] { pollStop(loop); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("In-memory Kubernetes API server, plain HTTP on the loopback interface.");
  std::uint16_t port = 0;
  std::vector<std::string> crds;
  std::uint64_t seed = 1;
  std::size_t history = 20'000;
  app.add_option("--port", port, "port to listen on; 0 takes a free one, which is printed");
  app.add_option("--crds", crds, "CustomResourceDefinition files or folders of them");
  app.add_option("--seed", seed, "seed of uids and generated names");
  app.add_option("--history", history, "writes that a watch may lag behind");
  CLI11_PARSE(app, argc, argv);

  base::EventLoop loop;
  auto server = sim::ApiServer::create({.crds = readCrds(crds), .seed = seed, .historyLimit = history},
                                       [&loop] { return loop.wallNow(); });
  if (!server) {
    std::cerr << "sim-apiserver: " << server.error().message << "\n";
    return 1;
  }
  sim::GarbageCollector collector(**server, loop);
  Front front(**server, loop);
  net::ServerOptions options;
  options.port = port;
  auto http = net::startHttpServer(
      options, [&front](net::ServerRequest request, std::shared_ptr<net::Exchange> exchange) {
        front.serve(std::move(request), std::move(exchange));
      });
  if (!http) {
    std::cerr << "sim-apiserver: " << http.error().message << "\n";
    return 1;
  }
  std::cout << "listening on http://127.0.0.1:" << (*http)->port() << '\n' << std::flush;
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
  pollStop(loop);
  loop.run();
  return 0;
}
