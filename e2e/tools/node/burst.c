// Synchronous training as the network sees it: a server sends the model to each worker, each computes and sends as
// much back, and when all have, the next step begins.
//
//     burst server PORT WORKERS BYTES STEPS STARTER-HOST STARTER-PORT
//     burst worker HOST PORT BYTES COMPUTE-MILLISECONDS
//
// A server whose workers are all there connects to the starter, begins when that sends a byte, tells it the seconds
// that all steps took, and ends when the starter closes. Workers end with their server.
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORKERS = 126, CHUNK = 1 << 16 };

static char chunk[CHUNK];

static void fail(const char* what) {
  fprintf(stderr, "burst: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void at_once(int socket) {
  int on = 1;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on)) fail("TCP_NODELAY");
}

// A name is known, and a port open, some time after the pods of both ends have begun.
static int connected(const char* host, const char* port) {
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = 0;
  for (;;) {
    if (getaddrinfo(host, port, &hints, &found) == 0) {
      int made = socket(AF_INET, SOCK_STREAM, 0);
      if (made < 0) fail("socket");
      int rc = connect(made, found->ai_addr, found->ai_addrlen);
      freeaddrinfo(found);
      if (rc == 0) {
        at_once(made);
        return made;
      }
      close(made);
    }
    usleep(100000);
  }
}

// Whether all of it came before the other end closed.
static int received(int from, long bytes) {
  while (bytes > 0) {
    ssize_t got = recv(from, chunk, bytes < CHUNK ? bytes : CHUNK, 0);
    if (got < 0) fail("recv");
    if (got == 0) return 0;
    bytes -= got;
  }
  return 1;
}

static void send_all(int to, long bytes) {
  while (bytes > 0) {
    ssize_t sent = send(to, chunk, bytes < CHUNK ? bytes : CHUNK, MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    bytes -= sent;
  }
}

static int work(char** args) {
  int server = connected(args[0], args[1]);
  long bytes = atol(args[2]);
  while (received(server, bytes)) {
    usleep(1000 * atol(args[3]));
    send_all(server, bytes);
  }
  return 0;
}

// One step with all workers at once: what is owed to each, and what each owes.
static void step(struct pollfd* workers, int count, long bytes) {
  long owes[MOST_WORKERS], owed[MOST_WORKERS];
  for (int i = 0; i < count; ++i) owes[i] = owed[i] = bytes;
  for (int busy = count; busy > 0;) {
    for (int i = 0; i < count; ++i) {
      workers[i].events = (owes[i] > 0 ? POLLOUT : 0) | (owed[i] > 0 ? POLLIN : 0);
    }
    if (poll(workers, count, -1) < 0) fail("poll");
    for (int i = 0; i < count; ++i) {
      if (workers[i].revents & POLLOUT) {
        ssize_t sent = send(workers[i].fd, chunk, owes[i] < CHUNK ? owes[i] : CHUNK, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) fail("send");
        if (sent > 0) owes[i] -= sent;
      }
      if (workers[i].revents & (POLLIN | POLLHUP | POLLERR)) {
        ssize_t got = recv(workers[i].fd, chunk, CHUNK, MSG_DONTWAIT);
        if (got < 0 && errno != EAGAIN) fail("recv");
        if (got == 0) {
          fprintf(stderr, "burst: a worker has gone\n");
          exit(1);
        }
        if (got > 0 && (owed[i] -= got) <= 0) --busy;
      }
    }
  }
}

static int serve(char** args) {
  int count = atoi(args[1]), on = 1;
  if (count < 1 || count > MOST_WORKERS) {
    fprintf(stderr, "burst: %d workers: 1 to %d can be\n", count, MOST_WORKERS);
    return 2;
  }
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(atoi(args[0]))};
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on)) fail("socket");
  if (bind(listener, (struct sockaddr*)&here, sizeof here) || listen(listener, count)) fail("listen");
  struct pollfd workers[MOST_WORKERS];
  for (int i = 0; i < count; ++i) {
    workers[i].fd = accept(listener, 0, 0);
    if (workers[i].fd < 0) fail("accept");
    at_once(workers[i].fd);
  }
  int starter = connected(args[4], args[5]);
  if (!received(starter, 1)) return 1;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int left = atoi(args[3]); left > 0; --left) step(workers, count, atol(args[2]));
  clock_gettime(CLOCK_MONOTONIC, &end);
  dprintf(starter, "%s %.3f\n", getenv("TRAINYARD_JOB"), end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9);
  received(starter, 1);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 8 && strcmp(argv[1], "server") == 0) return serve(argv + 2);
  if (argc == 6 && strcmp(argv[1], "worker") == 0) return work(argv + 2);
  fprintf(stderr, "usage: burst server PORT WORKERS BYTES STEPS STARTER-HOST STARTER-PORT\n"
                  "       burst worker HOST PORT BYTES COMPUTE-MILLISECONDS\n");
  return 2;
}
