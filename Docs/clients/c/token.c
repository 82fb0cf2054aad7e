/* Gets an access token for an origin and prints its length: cc token.c $(pkg-config --cflags --libs authclient) */
#include <authclient.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    authclient *client = NULL;
    authclient_error *error = NULL;
    char *token = NULL;
    const char *origin = argc > 1 ? argv[1] : NULL;

    if (authclient_open(NULL, &client, &error) == 0 &&
        authclient_token(client, NULL, origin, 60000, AUTHCLIENT_DEFAULT_TIMEOUT, &token, &error) == 0) {
        /* Send it as `Authorization: Bearer TOKEN`; after a 401, call authclient_reject() and get it again. */
        printf("a token of %zu bytes\n", strlen(token));
    }
    if (error) fprintf(stderr, "%s: %s\n", authclient_error_kind(error), authclient_error_message(error));
    int status = error ? 1 : 0;
    authclient_free(token);
    authclient_error_free(error);
    authclient_close(client);
    return status;
}
