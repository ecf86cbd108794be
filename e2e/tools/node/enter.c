// Starts a program on a node and is gone: nsenter(1) would stay as its parent, stop when it is stopped and not go on
// when it is continued, and is not the process that a signal is meant for.
//
//   enter PID FD PROGRAM ARG...      in the namespaces of process PID
//   enter /PATH FD PROGRAM ARG...    in the network namespace PATH, with new namespaces of all other kinds
//
// Writes the program's process number, as seen here, to file descriptor FD.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
  exit(126);
}

static void join(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, 0) != 0) {
    fail(path);
  }
  close(fd);
}

static void joinAll(const char *pid) {
  // The mount namespace last of all: behind it, /proc is that of the node.
  static const char *const kinds[] = {"net", "uts", "ipc", "pid", "mnt"};
  for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, kinds[i]);
    join(path);
  }
}

static void create(const char *network) {
  join(network);
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC) != 0) {
    fail("unshare");
  }
  // What the host mounts and unmounts later is followed, nothing goes back.
  if (mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) {
    fail("mount --make-rslave /");
  }
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: enter PID|/PATH FD PROGRAM ARG...\n");
    return 2;
  }
  int report = atoi(argv[2]);
  if (argv[1][0] == '/') {
    create(argv[1]);
  } else {
    joinAll(argv[1]);
  }
  // A process does not change its own process namespace, only that of its children.
  pid_t child = fork();
  if (child < 0) {
    fail("fork");
  }
  if (child > 0) {
    return dprintf(report, "%d\n", child) > 0 ? 0 : 1;
  }
  close(report);
  setsid();
  if (chdir("/") != 0) {
    fail("/");
  }
  execvp(argv[3], argv + 3);
  fail(argv[3]);
}
