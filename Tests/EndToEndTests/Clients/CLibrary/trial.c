/* trial ORIGIN REVOKE: what programs do with libauthclient. Prints each result; exits with the line of the first that is wrong. */
#include <authclient.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

static const char *origin;

/* The token for the origin, or an error that is printed. */
static char *token_of(authclient *client) {
    char *token = NULL;
    authclient_error *error = NULL;
    if (authclient_token(client, NULL, origin, 60000, AUTHCLIENT_DEFAULT_TIMEOUT, &token, &error) < 0) {
        fprintf(stderr, "%s: %s\n", authclient_error_kind(error), authclient_error_message(error));
        exit(1);
    }
    CHECK(error == NULL);
    return token;
}

static void *many(void *client) {
    for (int i = 0; i < 20; i++) {
        char *result = NULL;
        CHECK(authclient_call(client, "agent.ping", "{}", 0, &result, NULL) == 0);
        authclient_free(result);
        authclient_free(token_of(client));
    }
    return NULL;
}

/* Waits for an event that has this text. */
static void wait_for(authclient_events *events, const char *text) {
    struct pollfd watched = {authclient_events_fd(events), POLLIN, 0};
    while (1) {
        char *event = NULL;
        authclient_error *error = NULL;
        int found;
        while ((found = authclient_next(events, &event, &error)) == 1) {
            int is_it = strstr(event, text) != NULL;
            authclient_free(event);
            if (is_it) return;
        }
        CHECK(found == 0);
        CHECK(poll(&watched, 1, -1) == 1);
    }
}

static void expect(authclient *client, const char *method, const char *params, const char *kind, int retryable) {
    char *result = (char *)"untouched";
    authclient_error *error = NULL;
    CHECK(authclient_call(client, method, params, 0, &result, &error) == -1);
    CHECK(strcmp(result, "untouched") == 0);
    printf("%s: %s\n", authclient_error_kind(error), authclient_error_message(error));
    CHECK(strcmp(authclient_error_kind(error), kind) == 0);
    CHECK(authclient_error_retryable(error) == retryable);
    CHECK(authclient_error_retry_after(error) == -1);
    CHECK(strstr(authclient_error_json(error), kind) != NULL);
    authclient_error_free(error);
}

/* A child has the parent's connections, and must not use them. It may start threads. */
static void call_in_child(authclient *client) {
    pid_t child = fork();
    if (child == 0) {
        pthread_t threads[2];
        authclient_free(token_of(client));
        for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, many, client) == 0);
        for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    origin = argv[1];
    authclient *client = NULL;
    authclient_error *error = NULL;
    CHECK(authclient_version()[0] != 0);
    CHECK(authclient_open(NULL, &client, &error) == 0);

    authclient_events *events = NULL;
    CHECK(authclient_subscribe(client, "{\"topics\": [\"session\"]}", 0, &events, &error) == 0);
    wait_for(events, "snapshot");

    char *first = token_of(client);
    CHECK(strncmp(first, "token-", 6) == 0);
    CHECK(system(argv[2]) == 0);
    CHECK(authclient_reject(client, NULL, first, 0, &error) == 0);
    char *second = token_of(client);
    CHECK(strcmp(first, second) != 0);
    wait_for(events, "\"renewed\"");
    authclient_free(first);
    authclient_free(second);

    pthread_t threads[8];
    for (int i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, many, client) == 0);
    for (int i = 0; i < 8; i++) CHECK(pthread_join(threads[i], NULL) == 0);

    call_in_child(client);
    authclient_free(token_of(client));

    expect(client, "agent.pong", NULL, "unsupported", 0);
    expect(client, "token.get", "{\"sesion\": \"x\"}", "validation", 0);
    expect(client, "token.get", "{\"origin\": \"https://elsewhere.example\"}", "denied", 0);
    expect(client, "events.subscribe", NULL, "unsupported", 0);
    expect(client, "api.request", "{\"method\": \"GET\", \"path\": \"/x\", \"stream\": \"a\"}", "unsupported", 0);
    expect(client, "agent.ping", "[", "validation", 0);
    expect(client, "agent.ping", "\"text\"", "validation", 0);
    expect(client, "agent.ping", "{\"a\": \"\xff\"}", "validation", 0);
    expect(client, NULL, NULL, "validation", 0);
    expect(NULL, "agent.ping", NULL, "validation", 0);
    CHECK(authclient_call(client, "agent.ping", NULL, 0, NULL, &error) == -1);
    authclient_error_free(error);
    error = NULL;
    char *result = NULL;
    CHECK(authclient_call(client, "agent.ping", NULL, -2, &result, NULL) == -1 && result == NULL);
    CHECK(authclient_call(client, "agent.ping", NULL, INT64_MAX, &result, NULL) == 0);
    authclient_free(result);
    CHECK(authclient_call(client, "agent.ping", NULL, 9223372036855, &result, NULL) == 0);
    authclient_free(result);

    authclient *nobody = NULL;
    CHECK(authclient_open("relative", &nobody, &error) == -1 && nobody == NULL);
    authclient_error_free(error);
    error = NULL;
    CHECK(authclient_open("/nonexistent/socket", &nobody, &error) == 0);
    expect(nobody, "agent.ping", NULL, "no_agent", 1);
    authclient_close(nobody);

    authclient_free(NULL);
    authclient_error_free(NULL);
    authclient_events_close(NULL);
    authclient_close(NULL);
    CHECK(authclient_events_fd(NULL) == -1 && authclient_error_kind(NULL) == NULL);
    authclient_events_close(events);
    authclient_close(client);
    puts("all is well");
    return 0;
}
