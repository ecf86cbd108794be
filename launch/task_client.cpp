#include "launch/task_client.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <iostream>
#include <set>

#include "launch/channel.h"
#include "launch/sockets.h"
#include "launch/supervisor_options.h"

namespace trainyard::launch {
namespace {

constexpr int kUsage = 2;
constexpr int kNoHub = 125;
constexpr int kCancelled = 143;
// A batch keeps this many tasks with the hub, so that its members never run out of tasks.
constexpr std::size_t kAhead = 1'000;

void write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

class Client {
 public:
  Client(const std::string& host, int port, const std::string& token) {
    const int fd = connectTo(host, port);
    if (fd < 0) return;
    channel_ = std::make_unique<Channel>(loop_, fd, false, token);
  }

  // Calls `begin` once connected. `take` returns true once it has received everything it needs.
  int talk(const std::function<void()>& begin, const std::function<bool(const Message&)>& take) {
    if (!channel_) return kNoHub;
    channel_->listen({.open = begin,
                      .message =
                          [&](const Message& message) {
                            if (message.kind == "refused") {
                              std::fprintf(stderr, "trainyard-launch: %s\n", message.fields.front().c_str());
                              loop_.stop(kNoHub);
                            } else if (take(message)) {
                              loop_.stop(code_);
                            }
                          },
                      .closed = [&] { loop_.stop(kNoHub); }});
    return loop_.run();
  }

  void send(const Message& message) { channel_->send(message); }

  // "done": the result contributes to our own exit code.
  void count(const Message& message) {
    int code = message.fields[1] == "cancelled" ? kCancelled : 0;
    if (code == 0)
      std::from_chars(message.fields[2].data(), message.fields[2].data() + message.fields[2].size(), code);
    code_ = std::max(code_, code);
  }

 private:
  Loop loop_;
  std::unique_ptr<Channel> channel_;
  int code_ = 0;
};

Message submission(const char* follow, std::vector<std::string> words) {
  Message message{"submit", {follow}};
  message.fields.insert(message.fields.end(), words.begin(), words.end());
  return message;
}

int runOne(Client& client, const std::vector<std::string>& words) {
  return client.talk([&] { client.send(submission("follow", words)); },
                     [&](const Message& message) {
                       if (message.kind == "output") write(message.fields[1]);
                       if (message.kind == "done") client.count(message);
                       return message.kind == "done";
                     });
}

int submitOne(Client& client, const std::vector<std::string>& words) {
  return client.talk([&] { client.send(submission("", words)); },
                     [&](const Message& message) {
                       write(message.fields[0] + "\n");
                       return true;
                     });
}

// wait, output and cancel: sends the request for each task, and returns once all have ended.
int ask(Client& client, const std::string& verb, const std::vector<std::string>& tasks) {
  std::set<std::string> open(tasks.begin(), tasks.end());
  return client.talk(
      [&] {
        for (const std::string& each : open) client.send({verb, {each}});
      },
      [&](const Message& message) {
        if (message.kind == "output") write(message.fields[1]);
        if (message.kind == "done" && open.erase(message.fields[0]) > 0) {
          if (verb != "cancel") client.count(message);
          if (verb == "wait")
            write(message.fields[0] + ' ' + message.fields[1] + ' ' + message.fields[2] + '\n');
        }
        return open.empty();
      });
}

int listAll(Client& client) {
  return client.talk([&] { client.send({"list"}); },
                     [&](const Message& message) {
                       if (message.kind != "item") return true;
                       std::string line;
                       for (const std::string& each : message.fields)
                         line += (line.empty() ? "" : "\t") + each;
                       write(line + '\n');
                       return false;
                     });
}

// Each line of the input is a task for a shell. Each result is a line: number, state, code.
int runBatch(Client& client) {
  std::size_t open = 0;
  bool more = true;
  const auto feed = [&] {
    std::string line;
    while (open < kAhead && more) {
      more = static_cast<bool>(std::getline(std::cin, line));
      if (!more || line.empty()) continue;
      client.send(submission("follow", {"/bin/sh", "-c", line}));
      ++open;
    }
  };
  return client.talk(
      [&] {
        feed();
        // An empty batch: the answer to this request ends it.
        if (open == 0) client.send({"list"});
      },
      [&](const Message& message) {
        if (message.kind == "output") write(message.fields[1]);
        if (message.kind == "done") {
          client.count(message);
          std::fprintf(stderr, "task %s %s %s\n", message.fields[0].c_str(), message.fields[1].c_str(),
                       message.fields[2].c_str());
          --open;
          feed();
        }
        return open == 0 && !more;
      });
}

}  // namespace

int runTaskCommand(const std::string& verb, const std::vector<std::string>& arguments,
                   const Environment& environment) {
  const SupervisorOptions options = supervisorOptions(environment, {});
  if (options.token.empty() || options.hubHost.empty()) {
    std::fprintf(stderr,
                 "trainyard-launch: %s works inside of a job with checkpoint.mode Launcher and more than "
                 "one member\n",
                 verb.c_str());
    return kNoHub;
  }
  const bool wantsNone = verb == "tasks" || verb == "batch";
  if (arguments.empty() != wantsNone) return kUsage;
  Client client(options.hubHost, options.hubPort, options.token);
  int code = kUsage;
  if (verb == "run") code = runOne(client, arguments);
  if (verb == "submit") code = submitOne(client, arguments);
  if (verb == "wait" || verb == "output" || verb == "cancel") code = ask(client, verb, arguments);
  if (verb == "tasks") code = listAll(client);
  if (verb == "batch") code = runBatch(client);
  if (code == kNoHub) std::fprintf(stderr, "trainyard-launch: no answer from %s\n", options.hubHost.c_str());
  return code;
}

}  // namespace trainyard::launch
