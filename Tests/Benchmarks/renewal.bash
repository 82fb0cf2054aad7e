# shellcheck shell=bash
# What a renewal takes beside the provider's own time. Sourced by Tests/Benchmarks/bench.

# µs.
readonly share_budget=2000

renewal() {
    section 'A renewal, without what the provider takes' '' "The agent renews a session, and a program in C sends the same request to the \
provider on a connection that stays open, in turn, $refreshes times in each run. The figure is the difference of the medians, and the \
median of the runs."
    start_provider bench
    authc reload >/dev/null 2>&1
    # The session of the provider is the default one then.
    authc logout --all --yes >/dev/null 2>&1
    printf secret | authc login bench --password-stdin --no-input >/dev/null || fail 'signing in'
    renewals 'with the keyring' -
    end "$agent_pid" TERM
    start_agent --store memory --log-level info
    printf secret | authc login bench --password-stdin --no-input >/dev/null || fail 'signing in'
    renewals 'with nothing on disk' "$share_budget"
    end "$agent_pid" TERM
    starting
}

# renewals WHAT BUDGET: of the default session.
renewals() {
    local what=$1 ours theirs longest share round
    for ((round = 0; round < rounds; round++)); do
        "$world/c/refresh" "$refreshes" "$socket" "$provider_port" || fail "$what was not measured"
    done | awk '{ printf "%.0f %.0f %.0f %.0f\n", $1 - $2, $1, $2, $3 }' | sort -n >"$world/shares"
    read -r share ours theirs longest < <(middle <"$world/shares") || fail "$what was not measured"
    row "$what" "$share" "$2" "µs: $ours µs, of which the provider and the way to it take $theirs µs; the longest of $refreshes takes $longest µs"
}
