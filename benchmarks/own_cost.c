/* What benchmarks/own_cost.py holds the kit's own workloads against: the same system calls, made in C.

   own_cost files DIRECTORY FILES SIZE   prints for each of four steps the seconds of the step and of its sync
   own_cost time PROGRAM ARGUMENT...     prints the seconds that a program takes
   own_cost work FILE SECONDS            fills memory for a time, and writes the seconds of its clock into a file */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return moment.tv_sec + moment.tv_nsec * 1e-9;
}

static void need(int holds) {
    if (!holds) {
        perror("own_cost");
        exit(1);
    }
}

static void step(int number, char **paths, int files, char *pool, char *buffer, int size) {
    for (int i = 0; i < files; i++) {
        int descriptor;
        if (number == 3) {
            need(unlink(paths[i]) == 0);
            continue;
        }
        if (number == 2) {
            need((descriptor = open(paths[i], O_RDONLY | O_CLOEXEC)) >= 0);
            need(read(descriptor, buffer, size + 1) == size);
        } else {
            int flags = O_WRONLY | O_CLOEXEC | (number == 0 ? O_CREAT | O_EXCL : 0);
            need((descriptor = open(paths[i], flags, 0600)) >= 0);
            need(write(descriptor, pool + (i + number * files) % 4096, size) == size);
        }
        close(descriptor);
    }
}

static void time_files(char *directory, int files, int size) {
    char **paths = malloc(files * sizeof *paths);
    char *pool = malloc(size + 4096), *buffer = malloc(size + 1);
    int folder = open(directory, O_RDONLY | O_DIRECTORY);
    need(paths && pool && buffer && folder >= 0);
    for (int i = 0; i < files; i++)
        need(asprintf(&paths[i], "%s/%08d", directory, i) > 0);
    for (int i = 0; i < size + 4096; i++)
        pool[i] = rand();
    syncfs(folder);
    for (int number = 0; number < 4; number++) {
        double start = now();
        step(number, paths, files, pool, buffer, size);
        double done = now();
        syncfs(folder);
        printf("%.9f %.9f\n", done - start, now() - done);
    }
}

static void time_program(char **argv) {
    posix_spawn_file_actions_t actions;
    pid_t process;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    double start = now();
    need(posix_spawnp(&process, argv[0], &actions, NULL, argv, environ) == 0);
    wait4(process, NULL, 0, NULL);
    printf("%.9f\n", now() - start);
}

static void work(char *file, double seconds) {
    double start = now(), end;
    char *memory = malloc(1 << 22);
    need(memory != NULL);
    for (int i = 0; now() < start + seconds; i++)
        memset(memory, i, 1 << 22);
    FILE *told = fopen(file, "w");
    need(told != NULL);
    end = now();
    need(fprintf(told, "%.9f", end - start) > 0 && fclose(told) == 0);
}

int main(int count, char **words) {
    need(count > 2);
    if (strcmp(words[1], "files") == 0)
        time_files(words[2], atoi(words[3]), atoi(words[4]));
    else if (strcmp(words[1], "work") == 0)
        work(words[2], atof(words[3]));
    else
        time_program(words + 2);
}
