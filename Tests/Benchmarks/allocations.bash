# shellcheck shell=bash
# How many blocks of memory the agent allocates for a request, counted by allocations.c. Sourced by Tests/Benchmarks/bench.

# The response's text.
readonly status_blocks_budget=1
readonly counted_requests=1000 counted_connections=200

allocations() {
    section 'Blocks of memory that the agent allocates for a request' '' "Counted in all threads by a library that is loaded into \
the agent (\`LD_PRELOAD\`, \`Tests/Benchmarks/allocations.c\`): the blocks for 2,000 requests on one connection minus those for \
1,000 on another, divided by 1,000."
    local one=$world/c/allocations.so
    "$compiler" -O2 -Wall -Wextra -Werror -shared -fPIC -o "$one" "$here/allocations.c" || fail 'allocations.c does not compile'
    start_provider bench
    # Started in the background: the agent replaces that shell.
    authd() { LD_PRELOAD=$one ALLOCATIONS=$world/allocations exec "$programs/authd" "$@"; }
    : >"$world/allocations"
    end_agent
    start_agent --store memory --log-level info
    unset -f authd
    sign_in_many 10 's#' bench
    authc use s0 >/dev/null || fail 'the session is not the default one'
    (($(blocks) > 0)) || fail 'the allocations are not counted'
    allocated 'session.status' "$status_blocks_budget" "$(request session.status '"session":"s0"')"
    allocated 'token.get, repeated' - "$(request token.get '')"
    allocated 'token.get, with another id each time' - '{"jsonrpc":"2.0","id":1#,"method":"token.get","params":{}}'
    allocated 'token.get, for two sessions in turn' - "$(request token.get '"session":"s#"')" 2
    # The audit log merges requests for up to eight sessions of a connection; with ten, each has an entry.
    allocated 'token.get, for ten sessions in turn' - "$(request token.get '"session":"s#"')" 10
    local before count
    before=$(blocks)
    for ((count = 0; count < counted_connections; count++)); do "$world/c/token" "$socket" >/dev/null || fail 'no token'; done
    row 'a connection with one token.get' "$(per "$counted_connections" $(($(blocks) - before)))" -
}

# allocated WHAT BUDGET LINE [NUMBERS]: see many.c.
allocated() {
    local first second third
    first=$(blocks)
    asked "$counted_requests" "$3" "${4-$counted_requests}"
    second=$(blocks)
    asked "$((2 * counted_requests))" "$3" "${4-$counted_requests}"
    third=$(blocks)
    row "$1" "$(per "$counted_requests" $((third - 2 * second + first)))" "$2"
}

asked() { "$world/c/many" "$1" 1 0 "$3" "$socket" "$2" >/dev/null || fail 'the requests failed'; }

# Not less than 0: the agent may have allocated something else before.
per() { awk "BEGIN { each = $2 / $1; printf \"%.1f\", (each > 0 ? each : 0) }"; }

# Waits until the agent has cleaned up after a connection that has ended.
blocks() {
    sleep 0.3
    od -An -v -t u8 -w16 "$world/allocations" | awk '{ sum += $2 } END { printf "%d", sum }'
}
