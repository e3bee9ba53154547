// Preloaded, it stops threads of the tests as a busy machine does: again and again, at any instruction, one that runs,
// for up to STOP_MILLISECONDS. STOP_SEED decides which and for how long, as far as the machine does the same again.
//
// The handler of a signal sleeps. Dispatch's threads block the usual signals, but not SIGSYS, which nothing else uses
// here. A call of the system that is interrupted goes on.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// One more that sleeps would leave the pool no thread for long.
enum { most_at_once = 3, most_threads = 1024 };

static atomic_ulong state;
static atomic_int stopped;

// Two threads may draw the same number, which does no harm.
static unsigned long draw(unsigned long below) {
    unsigned long x = atomic_load(&state);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    atomic_store(&state, x);
    return (x >> 8) % below;
}

static void sleep_for(long microseconds) {
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static unsigned long number(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

static unsigned long longest;

// Most stops are short, as a thread's turns are.
static void stop(int signal) {
    int error = errno;
    (void)signal;
    if (atomic_fetch_add(&stopped, 1) < most_at_once) sleep_for(draw(8) ? draw(3000) : draw(longest));
    atomic_fetch_sub(&stopped, 1);
    errno = error;
}

static int runs(int thread) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *name = strrchr(text, ')');
    return name && name[1] && name[2] == 'R';
}

static void stop_one(void) {
    int threads[most_threads], count = 0, own = (int)syscall(SYS_gettid);
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return;
    for (struct dirent *entry; count < most_threads && (entry = readdir(folder));) {
        int thread = atoi(entry->d_name);
        if (thread > 0 && thread != own) threads[count++] = thread;
    }
    closedir(folder);
    for (int first = count ? (int)draw(count) : 0, index = 0; index < count; index++) {
        int thread = threads[(first + index) % count];
        if (!runs(thread)) continue;
        syscall(SYS_tgkill, getpid(), thread, SIGSYS);
        return;
    }
}

static void *stop_threads(void *unused) {
    for (;;) {
        sleep_for(draw(2000));
        stop_one();
    }
    return unused;
}

__attribute__((constructor)) static void start(void) {
    // Neither the compiler nor what a test starts.
    if (!strstr(program_invocation_short_name, "PackageTests")) return;
    longest = 1000 * number("STOP_MILLISECONDS", 250) + 1;
    atomic_store(&state, 88172645463325252 ^ (number("STOP_SEED", 0) * 2654435761));
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigaction(SIGSYS, &action, NULL);
    // The thread inherits the mask: nobody sends it a signal.
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &former);
    pthread_t thread;
    pthread_create(&thread, NULL, stop_threads, NULL);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
}
