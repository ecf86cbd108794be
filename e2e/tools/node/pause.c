// Does nothing until it is signalled to end: the first process of a pod's sandbox, which keeps its namespaces, and of a
// node, whose end ends every process of the node with it. Collects children that lost their parent.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGCHLD);
  // Waited for instead of handled: process number 1 is not ended by a signal without a handler.
  sigprocmask(SIG_BLOCK, &signals, 0);
  for (;;) {
    int got = 0;
    if (sigwait(&signals, &got) == 0 && got != SIGCHLD) {
      _exit(0);
    }
    while (waitpid(-1, 0, WNOHANG) > 0) {
    }
  }
}
