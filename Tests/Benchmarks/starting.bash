# shellcheck shell=bash
# How long an agent takes that starts when a client connects. Sourced by Tests/Benchmarks/bench.

# ms, with one session in the keyring and with a hundred.
readonly one_budget=40 hundred_budget=60

# The agent of the other figures has ended; its sessions are in the keyring. The clients' socket is another one.
starting() {
    section 'From connect to a token, with an agent that starts for it'
    local median p99 count=1 most
    for most in 1 100; do
        if ((most > count)); then
            start_agent
            for ((; count < most; count++)); do
                printf secret | authc login bench -s "k$count" --password-stdin --no-input >/dev/null || fail 'signing in'
            done
            end "$agent_pid" TERM
        fi
        read -r median p99 < <("$world/c/first" "$first_starts" "$world/first" "$programs/authd" --log-level error) ||
            fail 'the start was not measured'
        row "with $most in the keyring" "$median" "$( ((most == 1)) && echo "$one_budget" || echo "$hundred_budget")" \
            "ms; the 99th percentile of $first_starts is $p99 ms"
    done
}
