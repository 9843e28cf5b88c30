// Lets one read in a hundred of a database or its write-ahead log fail while the file that READ_ERRORS names is there: for
// accidents.mjs, as LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int descriptor) {
  const char *flag = getenv("READ_ERRORS");
  if (flag == NULL || access(flag, F_OK) != 0 || random() % 100 != 0) return 0;
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  if (readlink(link, path, sizeof path - 1) < 0 || strstr(path, "events.db") == NULL) return 0;
  errno = EIO;
  return 1;
}

#define READ(name, offset_type)                                                                                        \
  ssize_t name(int descriptor, void *bytes, size_t count, offset_type offset) {                                       \
    static ssize_t (*next)(int, void *, size_t, offset_type);                                                          \
    if (next == NULL) next = (ssize_t (*)(int, void *, size_t, offset_type))dlsym(RTLD_NEXT, #name);                   \
    return fails(descriptor) ? -1 : next(descriptor, bytes, count, offset);                                            \
  }

READ(pread, off_t)
READ(pread64, off64_t)
