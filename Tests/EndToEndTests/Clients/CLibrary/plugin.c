/* plugin LIBRARY: loads the library, uses it in a thread, unloads it, and only then ends the thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static void *library;
static sem_t used, unloaded;

static void *use(void *unused) {
    int (*open)(const char *, void **, void **) = (int (*)(const char *, void **, void **))dlsym(library, "authclient_open");
    void (*close)(void *) = (void (*)(void *))dlsym(library, "authclient_close");
    void *client = NULL;
    if (open && close && open(NULL, &client, NULL) == 0) close(client);
    sem_post(&used);
    sem_wait(&unloaded);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc != 2 || !(library = dlopen(argv[1], RTLD_NOW))) return 1;
    sem_init(&used, 0, 0);
    sem_init(&unloaded, 0, 0);
    if (pthread_create(&thread, NULL, use, NULL)) return 2;
    sem_wait(&used);
    if (dlclose(library)) return 3;
    sem_post(&unloaded);
    if (pthread_join(thread, NULL)) return 4;
    puts("still here");
    return 0;
}
