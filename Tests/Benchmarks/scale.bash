# shellcheck shell=bash
# How each cost grows with the sessions, the subscribers, the connections and the writes that wait. Sourced by
# Tests/Benchmarks/bench.

# kB for each further session, and for each connection.
readonly session_budget=2 connection_budget=8
# As a multiple of the same with ten sessions and no other connection; ms until the last subscriber has an event.
readonly flat_budget=1.1 fan_out_budget=10
# The last of the numbers of sessions and of connections: two at least.
readonly largest=${MOST:-10000}
# One systemd unit may have half of the connections of a user (ConnectionLimits): some fewer than that.
readonly unit_connections=5500
# The second idle stretch is as long as the first (IDLE), but a minute at most.
readonly small_sessions=10 scale_renewals=1000 scale_idle=$((idle_seconds < 60 ? idle_seconds : 60)) fan_out_times=100
# Seconds until everything that sign-ins have begun has ended, see settle.
readonly sign_in_ends=65
# How often a session with tokens of an hour is renewed in a day: after three quarters of it.
readonly renewals_a_day=32
# The most that the outbox holds (OutboxMachine).
readonly most_entries=1000
# Cached responses of 1 KiB that are requested in turn, and more than the cache has room for (api.cache_mib is 16).
readonly cached_in_turn=100 more_than_cached=13000

scale() {
    start_provider bench
    start_small_agent
    # Memory that was freed after many sessions would hide what connections take.
    fresh_agent --store memory
    sign_in_many "$small_sessions" 's#' bench
    connection_scale
    fresh_agent --store memory
    session_scale
    fan_outs
    end "$small_pid" TERM
    outbox_scale
    cache_scale
}

# A second agent, with ten sessions, to compare with. It has the same settings, and separate folders.
start_small_agent() {
    local folder=$world/small
    small_socket=$folder/socket
    mkdir -m 700 "$folder" "$folder/run" "$folder/state"
    XDG_RUNTIME_DIR=$folder/run XDG_STATE_HOME=$folder/state DBUS_SESSION_BUS_ADDRESS=unix:path=$folder/none \
        authd --store memory --log-level info --socket "$small_socket" 2>>"$world/log/small" &
    small_pid=$!
    started+=("$small_pid")
    wait_until 10 'the second agent does not listen' test -S "$small_socket"
    at=$small_socket sign_in_many "$small_sessions" 's#' bench
}

session_scale() {
    section 'What each number of sessions costs' '' "The processor time of a day is that of $renewals_a_day renewals of each session, which \
follow each other without a pause here, and of an idle agent."
    local known=0 most first='' seen renewal=''
    for most in $(up_to "$largest" 1 10 100 1000); do
        sign_in_many "$known-$most" 's#' bench
        known=$most
        seen=$(anonymous)
        : "${first:=$seen}"
        point 'Anonymous memory by sessions, kB' authd "$most" "$seen"
        ((most == 1)) || row "each session, of $most" "$(awk "BEGIN { printf \"%.1f\", ($seen - $first) / ($most - 1) }")" \
            "$session_budget" "kB; $seen kB in all"
        day_of "$most"
        token_beside_ten "the default session's token, of $most" 'the default session'
        # The audit log merges requests for up to eight sessions of a connection; with ten, each has an entry.
        ((most < 10)) || token_beside_ten "each session's token in turn, of $most" 'each session in turn' "$most"
    done
}

# up_to MOST NUMBER…: the numbers below MOST, and MOST.
up_to() {
    local number
    for number in "${@:2}"; do ((number >= $1)) || echo "$number"; done
    echo "$1"
}

# The processor time of a day, from an idle stretch and some renewals.
day_of() {
    local most=$1 count=$(($1 * 10)) at_once=8 idle spent begin end each seen
    ((count <= scale_renewals)) || count=$scale_renewals
    # Requests for one session at the same time share a renewal.
    ((at_once <= most)) || at_once=$most
    sleep "$sign_in_ends"
    idle=$(cpu_us)
    sleep "$scale_idle"
    idle=$(($(cpu_us) - idle))
    spent=$(cpu_us) begin=$EPOCHREALTIME
    "$world/c/many" "$count" "$at_once" 0 "$most" "$socket" "$(renewal_of 's#')" >/dev/null || fail 'renewing'
    end=$EPOCHREALTIME
    each=$(awk "BEGIN { printf \"%.2f\", ($(cpu_us) - $spent - $idle * ($end - $begin) / $scale_idle) / 1000 / $count }")
    seen=$(awk "BEGIN { printf \"%.1f\", $each * $renewals_a_day * $most / 1000 + $idle / 1e6 * 86400 / $scale_idle }")
    row "processor time of a day with $most" "$seen" - \
        "s, with $renewals_a_day renewals of each, $each ms for one; idle, $(awk "BEGIN { printf \"%.2f\", $idle / 1000 }") ms in $scale_idle s"
    if [[ $renewal ]]; then
        row "a renewal, of $most" "$(awk "BEGIN { printf \"%.2f\", $each / $renewal }")" "$flat_budget" \
            "$each ms of the processor beside $renewal ms with ten sessions"
    fi
    ((most != 10)) || renewal=$each
    # The axes are logarithmic.
    point 'Processor time of a day by sessions, s' authd "$most" "$(awk "BEGIN { print ($seen > 0.1 ? $seen : 0.1) }")"
}

# token_beside_ten WHAT SERIES [SESSIONS]: a round trip, beside one of the second agent.
token_beside_ten() {
    local what=$1 series=$2
    shift 2
    pin "$processor" "$agent_pid" "$small_pid"
    peer='with ten sessions' ratio "$what" "$flat_budget" \
        taskset --cpu-list "$processor" "$world/c/trip" poll "$flood_trips" "$socket" "$small_socket" "$@"
    pin "$processor,$other_processor" "$agent_pid" "$small_pid"
    [[ -z $series ]] || point 'Microseconds for a token by sessions' "$series" "$most" "$middle_time"
}

fan_outs() {
    section 'From a change to its event at the last subscriber'
    local subscribers median p99
    for subscribers in 1 10 100 1000; do
        read -r median p99 < <("$world/c/fanout" "$subscribers" "$fan_out_times" "$socket" s1 s0) ||
            fail 'the event was not measured'
        row "$subscribers subscribers" "$(awk "BEGIN { printf \"%.2f\", $median / 1000 }")" "$fan_out_budget" \
            "ms; the 99th percentile of $fan_out_times is $(awk "BEGIN { printf \"%.2f\", $p99 / 1000 }") ms"
        point 'Microseconds until the last subscriber has an event' authd "$subscribers" "$median"
    done
}

connection_scale() {
    section 'What each number of open connections costs'
    local before most seen holder last=$largest note=
    if ((last > unit_connections)) && grep -qE '\.(service|scope)(/|$)' /proc/self/cgroup; then
        last=$unit_connections
        note="; one systemd unit may not open $largest"
    fi
    before=$(anonymous)
    for most in $(up_to "$last" 100 1000); do
        : >"$world/held"
        "$world/c/hold" "$most" "$socket" >"$world/held" &
        holder=$!
        started+=("$holder")
        wait_until 60 'the connections are not open' test -s "$world/held"
        seen=$(anonymous)
        point 'Anonymous memory by connections, kB' authd "$most" "$seen"
        row "each connection, of $most" "$(awk "BEGIN { printf \"%.1f\", ($seen - $before) / $most }")" "$connection_budget" \
            "kB; $seen kB in all$( ((most < last)) || echo "$note")"
        token_beside_ten "a token beside $most open connections" ''
        end "$holder" TERM
    done
}

# Writes of a session whose provider cannot be reached.
outbox_scale() {
    section 'What each number of queued writes costs' '' "An outbox holds at most $most_entries writes: a program that queues more \
does not check whether its writes are sent, and is refused."
    local queued=0 most write
    start_provider away
    fresh_agent
    printf secret | authc login away -s away --password-stdin --no-input >/dev/null || fail 'signing in'
    end "$provider_pid" TERM
    write=$(request api.request '"session":"away","method":"POST","path":"/notes","body":{"number":"#"},"queue":true')
    for most in 10 100 "$most_entries"; do
        "$world/c/many" "$((most - queued - 5))" 4 0 1000 "$socket" "$write" >/dev/null || fail 'queueing'
        queued=$most
        outbox_row "one more, of $most" 'one more' 5 "$write"
        outbox_row "the list of $most" 'the list' 50 "$(request outbox.list '')"
        outbox_row "one entry of $most" 'one entry' 50 "$(request outbox.list "\"id\":\"$(first_entry)\"")"
    done
    # It holds no more, and says so.
    if "$world/c/many" 1 1 0 1 "$socket" "$write" >/dev/null 2>>"$world/log/outbox"; then
        fail "the outbox holds more than $most_entries"
    fi
    authc outbox drop --all --timeout 5m >/dev/null 2>>"$world/log/outbox" || fail 'the outbox cannot be emptied'
    authc logout -s away >/dev/null 2>&1 || true
}

first_entry() { authc outbox list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["entries"][0]["id"])'; }

# outbox_row WHAT SERIES TIMES LINE
outbox_row() {
    local median longest
    read -r median longest < <("$world/c/many" "$3" 1 0 1000 "$socket" "$4") || fail "$1 was not measured"
    row "$1" "$median" - "µs; the longest of $3 takes $longest µs"
    point 'Microseconds by entries of the outbox' "$2" "$most" "$median"
}

cache_scale() {
    section 'What a full cache of responses costs' '' "Responses of 1 KiB. A full cache removes the response that was used least \
recently for each new one."
    start_sink
    fresh_agent --store memory
    # It shows the server's message.
    printf token | authc login sink -s sink --password-stdin --no-input >/dev/null 2>>"$world/log/sink" ||
        fail 'signing in with a key'
    local before
    before=$(anonymous)
    cached_rows 'an empty cache' 0
    "$world/c/many" "$more_than_cached" 8 0 "1000-$((1000 + more_than_cached))" "$socket" "$(cached '#')" >/dev/null ||
        fail 'filling the cache'
    row 'memory of a full cache' "$((($(anonymous) - before + 1023) / 1024))" - 'MiB more; api.cache_mib is 16, by an estimate of what each response takes'
    cached_rows 'a full cache' 500
}

# cached_rows WHERE FIRST: with responses that are not cached yet, from this number on.
cached_rows() {
    local median p99 numbers=$2-$(($2 + cached_in_turn))
    read -r median p99 < <("$world/c/many" "$cached_in_turn" 1 0 "$numbers" "$socket" "$(cached '#')") || fail "$1 was not measured"
    row "a new response, with $1" "$median" - "µs; the 99th percentile is $p99 µs"
    read -r median p99 < <("$world/c/many" 2000 1 0 "$numbers" "$socket" "$(cached '#')") || fail "$1 was not measured"
    row "a cached response, with $1" "$median" - "µs; the 99th percentile is $p99 µs"
}

# The request for one of the responses.
cached() { request api.request "\"session\":\"sink\",\"method\":\"GET\",\"path\":\"/kept/1/$1\""; }
