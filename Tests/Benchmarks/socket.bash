# shellcheck shell=bash
# Requests on open connections, beside an echo server in C. Sourced by Tests/Benchmarks/bench.

# As a multiple of the C echo, in poll, in read (see trip.c) and at the 99th percentile; as a multiple of the same without a flood
# (see flooded); the rate as a part of the echo's with 64 connections.
readonly trip_budget=1.3 read_budget=1.75 p99_budget=2.0 flood_budget=3.0 rate_budget=0.7
# A refusal as a multiple of what it refuses (see refusals).
readonly busy_budget=1.0

socket() {
    round_trips
    refusals
    rates
    floods
    pin "$processor,$other_processor" "$agent_pid" "$echo_pid"
}

round_trips() {
    section 'A token on an open connection, beside an echo server in C' 'authd|echo|authd, p99|echo, p99'
    # Not pinned: waking an idle processor takes longer than a round trip, and it is random which server pays for it.
    p99=- ratio 'token.get, not pinned' - "$world/c/trip" poll "$trips" "$socket" "$world/echo"
    # Pinned to one processor.
    pin "$processor" "$agent_pid" "$echo_pid"
    p99=$p99_budget ratio 'token.get' "$trip_budget" \
        taskset --cpu-list "$processor" "$world/c/trip" poll "$trips" "$socket" "$world/echo"
    ratio 'the same for a client in read(2)' "$read_budget" \
        taskset --cpu-list "$processor" "$world/c/trip" read "$trips" "$socket" "$world/echo"
}

# `busy` must cost less than the request that it refuses: a client that repeats it would load the agent more otherwise.
refusals() {
    section 'A request that is refused as busy, beside the same one carried out' 'refused|carried out|refused, p99|carried out, p99'
    ratio 'outbox.list' "$busy_budget" \
        taskset --cpu-list "$processor" "$world/c/busy" "$trips" "$socket"
}

# pin PROCESSOR PID…
pin() {
    local processor=$1 server
    shift
    # A thread that ends meanwhile is an error.
    for server in "$@"; do wait_until 5 'a server cannot be pinned to a processor' pinned "$processor" "$server"; done
}

pinned() { taskset --all-tasks --cpu-list --pid "$1" "$2" >/dev/null 2>&1; }

rates() {
    section 'Tokens in a second, beside an echo server' '' "In $slices slices of 200 ms each, in turn. The figure is the median of the \
ratios of neighbours. The client is pinned to one processor and both servers to another."
    local connections in_flight seen ours theirs budget
    for in_flight in 1 32; do
        for connections in 1 16 64 256; do
            read -r ours theirs seen < <(taskset --cpu-list "$other_processor" \
                "$world/c/rate" "$connections" "$in_flight" "$slices" "$socket" "$world/echo") || fail 'the rate was not measured'
            seen=$(printf %.2f "$seen")
            budget=-
            ((connections != 64)) || budget=$rate_budget
            floor "$connections connections, $in_flight in flight each" "$seen" "$budget" "$ours/s beside $theirs/s in C"
            point 'Tokens in a second' "authd, $in_flight in flight" "$connections" "$ours"
            point 'Tokens in a second' "echo in C, $in_flight in flight" "$connections" "$theirs"
        done
    done
}

floods() {
    section 'The 99th percentile of a good client beside a flood' "$beside_columns" "$beside_text"
    local kind connections
    for kind in requests tokens garbage connections pieces; do flooded "$kind"; done
    for connections in 64 256; do flooded crowd "$connections"; done
}

# yielding COMMAND…: on the client's processor, and only when nothing else wants that: the client waits for the agent, and not for its
# processor. In the background: the command replaces that shell.
yielding() { exec chrt --idle 0 taskset --cpu-list "$other_processor" "$@"; }

# flooded KIND [CONNECTIONS]: the 99th percentile of a good client's requests beside a program that floods the agent, and
# without it, in turn.
flooded() {
    local kind=$* round flood quiet loud echoed
    for ((round = 0; round < rounds; round++)); do
        read -r quiet _ < <(p99_trip) || fail "$kind: the good client failed"
        yielding "$world/c/flood" "$1" "$socket" "${@:2}" &
        flood=$!
        started+=("$flood")
        read -r loud echoed < <(p99_trip) || fail "$kind: the good client failed"
        kill -0 "$flood" || fail "the flood of $kind ended"
        end "$flood" TERM
        echo "$quiet $loud $echoed"
    done >"$world/times"
    beside_row "$kind" "$flood_budget"
}

# p99_trip [COUNT]: see trip.c.
p99_trip() {
    taskset --cpu-list "$other_processor" "$world/c/trip" poll "${1-$flood_trips}" "$socket" "$world/echo" | awk '{ print $3, $4 }'
}
