# shellcheck shell=bash
# What a renewal takes beside the provider's own time. Sourced by Tests/Benchmarks/bench.

# µs.
readonly share_budget=2000

# renewals WHAT BUDGET: of the default session.
renewals() {
    local what=$1 ours theirs share round
    for ((round = 0; round < rounds; round++)); do
        "$world/c/refresh" "$refreshes" "$socket" "$provider_port" || fail "$what was not measured"
    done | awk '{ printf "%.0f %.0f %.0f\n", $1 - $2, $1, $2 }' | sort -n >"$world/shares"
    read -r share ours theirs < <(sed -n "$(((rounds + 1) / 2))p" "$world/shares") || fail "$what was not measured"
    row "$what" "$share" "$2" "µs: $ours µs, of which the provider and the way to it take $theirs µs"
}
