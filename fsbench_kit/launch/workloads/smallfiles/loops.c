/* The loops of smallfiles: system calls, and nothing else that takes time.

   Each does its call for every path in turn, and returns how many it has done: fewer than there are where one
   failed. Then errno says why, or is 0 where a file could not be written or read whole. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int whole(ssize_t done, size_t size) {
    if (done >= 0)
        errno = 0;
    return done == (ssize_t)size;
}

long write_files(char *const *paths, long files, int flags, char *const *contents, size_t size) {
    for (long i = 0; i < files; i++) {
        int file = open(paths[i], flags | O_CLOEXEC, 0600);
        if (file < 0 || !whole(write(file, contents[i], size), size) || close(file) != 0)
            return i;
    }
    return files;
}

/* The buffer has one byte more than a file, which shows that a file is not longer. */
long read_files(char *const *paths, long files, char *buffer, size_t size) {
    for (long i = 0; i < files; i++) {
        int file = open(paths[i], O_RDONLY | O_CLOEXEC);
        if (file < 0 || !whole(read(file, buffer, size + 1), size) || close(file) != 0)
            return i;
    }
    return files;
}

long delete_files(char *const *paths, long files) {
    for (long i = 0; i < files; i++)
        if (unlink(paths[i]) != 0)
            return i;
    return files;
}
