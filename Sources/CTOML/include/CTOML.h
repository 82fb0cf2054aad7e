// Reads TOML with toml++ (https://marzer.github.io/tomlplusplus), and reports each value to a visitor.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_kind {
    TOML_TABLE,
    TOML_ARRAY,
    // The last table or array that has not ended ends. It has no key.
    TOML_END,
    TOML_STRING,
    TOML_INTEGER,
    TOML_FLOATING_POINT,
    TOML_BOOLEAN,
    TOML_DATE,
    TOML_TIME,
    TOML_DATE_TIME,
};

// UTF-8 without a NUL at its end, valid during the call. An element of an array has an empty key.
struct toml_text {
    const char *bytes;
    size_t count;
};

struct toml_value {
    enum toml_kind kind;
    // TOML_STRING
    struct toml_text text;
    // TOML_INTEGER, TOML_BOOLEAN
    int64_t integer;
    // TOML_FLOATING_POINT
    double number;
};

// Called for each value in the order of the library, the content of a table or array before its end. The document itself is not
// reported.
typedef void (*toml_visitor)(void *context, struct toml_text key, struct toml_value value);

// `message` is cut if it is longer than the buffer.
struct toml_error {
    // From 1; 0 if it is unknown.
    unsigned line;
    char message[256];
};

// Returns 0, or -1 with the error. The text must have passed KeyScanner: the library recurses once for each level of a key.
int toml_read(const char *text, size_t count, toml_visitor visitor, void *context, struct toml_error *error);

#ifdef __cplusplus
}
#endif
