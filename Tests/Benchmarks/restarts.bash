# shellcheck shell=bash
# How soon a token comes after a restart, when the service manager has kept the sessions. Sourced by Tests/Benchmarks/bench.

# ms.
readonly restart_budget=25
readonly restarts_each=100

restarts() {
    section 'From the start after a restart to a token, with the sessions that the service manager has kept'
    start_provider bench
    fresh_agent
    authc logout --all --yes >/dev/null 2>&1 || true
    local count
    for count in 1 100; do
        sign_in_many "$count" 'k#' bench
        # It gives the sessions to the keyring, where the first of the runs reads them.
        end "$agent_pid" TERM
        restarted "with $count"
        start_agent --log-level info
    done
}

restarted() {
    local median p99 whole
    read -r median p99 whole < <("$world/c/restart" "$restarts_each" "$world/restart" "$programs/authd" --log-level error \
        2>>"$world/log/restart") || fail 'the restart was not measured'
    row "$1" "$median" "$restart_budget" \
        "ms; the 99th percentile of $restarts_each is $p99 ms, and with the end of the former run it takes $whole ms"
}
