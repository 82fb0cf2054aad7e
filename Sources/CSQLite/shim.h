// SQLite: no other file of the project includes its header.
#pragma once

#include <sqlite3.h>

// sqlite3_bind_text64 and sqlite3_bind_blob64 with a copy of the bytes: Swift cannot import SQLITE_TRANSIENT.
static inline int sqlite_bind_text(sqlite3_stmt *statement, int place, const char *bytes, unsigned long long count) {
    return sqlite3_bind_text64(statement, place, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int sqlite_bind_bytes(sqlite3_stmt *statement, int place, const void *bytes, unsigned long long count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, place, 0)
                      : sqlite3_bind_blob64(statement, place, bytes, count, SQLITE_TRANSIENT);
}
