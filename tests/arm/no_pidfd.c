// Preloaded into the window under qemu 7, which has no CLONE_PIDFD. Qt asks by waitid whether the kernel has it, and qemu
// hands that question on. Here the answer is no: Qt then starts the node by fork alone, as on Linux before 5.4.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { idtype_pidfd = 3, argument_count = 6 };

long syscall(long number, ...) {
    long argument[argument_count];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < argument_count; ++i) argument[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_waitid && argument[0] == idtype_pidfd) {
        errno = EINVAL;
        return -1;
    }
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
