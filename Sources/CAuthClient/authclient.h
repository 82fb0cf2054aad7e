/*
 * A client of authd, the agent that owns a user's signed-in sessions: authclient(3).
 *
 * All strings are UTF-8 and end with a zero byte. A function that fails returns -1 and, unless `error` is NULL, stores an
 * error in *error, which the caller frees. It stores nothing else. On success *error is unchanged.
 */
#ifndef AUTHCLIENT_H
#define AUTHCLIENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A client. Several threads may use it at once; each call has a connection to itself while it runs. */
typedef struct authclient authclient;
/* Events of the agent. One thread may use it at a time. */
typedef struct authclient_events authclient_events;
typedef struct authclient_error authclient_error;

/*
 * Time limits in milliseconds: 0 means 70 s, -1 means none, and less is an error. The agent itself waits at most 60 s for a
 * provider, unless the params have timeout_ms.
 */
#define AUTHCLIENT_DEFAULT_TIMEOUT 0
#define AUTHCLIENT_NO_TIMEOUT (-1)

/* The release of the library. */
const char *authclient_version(void);

/*
 * Creates a client. `socket` is the path of the agent's socket; NULL: $AUTHD_SOCKET, then $XDG_RUNTIME_DIR/authd/socket, then
 * /run/user/UID/authd/socket. It connects with the first call. Returns 0 or -1.
 */
int authclient_open(const char *socket, authclient **client, authclient_error **error);

/* Frees the client; NULL is allowed. No thread may use it any more. */
void authclient_close(authclient *client);

/*
 * Calls a method of the protocol (Docs/protocol.md) and waits for its result. `params` is a JSON object; NULL: none. Stores
 * the result, a JSON object, in *result, which authclient_free() frees. Methods whose effect belongs to one connection
 * (events.subscribe, streams) are refused. Returns 0 or -1.
 */
int authclient_call(authclient *client, const char *method, const char *params, int64_t timeout_ms, char **result,
                    authclient_error **error);

/*
 * Stores an access token in *token, which authclient_free() frees. `session`: its name, or NULL for the default session.
 * `origin`: where the token will be sent, such as "https://api.example.org", or NULL; the agent refuses if the session does
 * not belong there. `min_valid_ms`: a token that is valid for less than this is renewed first. For the type and the expiry,
 * call token.get: a DPoP token needs a proof for each request. Returns 0 or -1.
 */
int authclient_token(authclient *client, const char *session, const char *origin, int64_t min_valid_ms, int64_t timeout_ms,
                     char **token, authclient_error **error);

/*
 * Reports that a server answered 401 to this token. The agent renews it if it is still the current one: get it again then.
 * Returns 0 or -1.
 */
int authclient_reject(authclient *client, const char *session, const char *token, int64_t timeout_ms,
                      authclient_error **error);

/* Overwrites and frees a string that this library stored; NULL is allowed. Other copies in the process stay. */
void authclient_free(char *string);

/*
 * Subscribes to events on a separate connection. `params` as for the method events.subscribe; NULL: all events. The first
 * event is a snapshot. Returns 0 or -1.
 */
int authclient_subscribe(authclient *client, const char *params, int64_t timeout_ms, authclient_events **events,
                         authclient_error **error);

/*
 * A descriptor for poll(2). Call authclient_next() until it returns 0: once before the first poll(2), because events may have
 * arrived already, and then each time it is readable. It belongs to `events`: do not read from it, and do not close it.
 */
int authclient_events_fd(const authclient_events *events);

/*
 * Does not block. Returns 1 and stores an event, a JSON object that authclient_free() frees; 0 if there is none now; -1
 * after the connection was lost: subscribe again, then.
 */
int authclient_next(authclient_events *events, char **event, authclient_error **error);

/* Ends the subscription and frees it; NULL is allowed. */
void authclient_events_close(authclient_events *events);

/*
 * What failed. The strings belong to the error. The kind is a word for programs: a kind of the protocol, such as
 * "sign_in_required"; "no_agent" if no agent listens; "closed" if it closed the connection. The message is for the user.
 */
const char *authclient_error_kind(const authclient_error *error);
const char *authclient_error_message(const authclient_error *error);
/* The error as JSON: code, message and data of the protocol. */
const char *authclient_error_json(const authclient_error *error);
/* 1 if the same call may succeed later, otherwise 0. */
int authclient_error_retryable(const authclient_error *error);
/* When to try again, in milliseconds; -1 if the agent did not say. */
int64_t authclient_error_retry_after(const authclient_error *error);
/* NULL is allowed. */
void authclient_error_free(authclient_error *error);

#ifdef __cplusplus
}
#endif

#endif
