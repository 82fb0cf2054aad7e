# shellcheck shell=bash
# What a renewal takes beside the provider's own time. Sourced by Tests/Benchmarks/bench.

# µs.
readonly share_budget=2000

# A provider in C that only answers, and its profile; sets provider_port.
start_provider() {
    "$world/c/provider" "$world/provider-port" &
    started+=("$!")
    wait_until 5 'the provider does not listen' test -s "$world/provider-port"
    provider_port=$(<"$world/provider-port")
    mkdir -p "$XDG_CONFIG_HOME/authd/providers"
    cat >"$XDG_CONFIG_HOME/authd/providers/bench.toml" <<PROFILE
name = "bench"
[environments]
production = "http://127.0.0.1:$provider_port"
[sign_in.password]
fields = [{ name = "password", kind = "password" }]
[sign_in.password.request]
method = "POST"
path = "/login"
body = { password = "{password}" }
[reply]
access_token = "/access_token"
refresh_token = "/refresh_token"
expires_in = "/expires_in"
[renewal]
kind = "refresh"
[renewal.request]
method = "POST"
path = "/refresh"
body = { refresh_token = "{refresh_token}" }
PROFILE
}

# renewals WHAT BUDGET: of the default session.
renewals() {
    local what=$1 ours theirs share round
    for ((round = 0; round < rounds; round++)); do
        "$world/c/refresh" "$refreshes" "$socket" "$provider_port" || fail "$what was not measured"
    done | awk '{ printf "%.0f %.0f %.0f\n", $1 - $2, $1, $2 }' | sort -n >"$world/shares"
    read -r share ours theirs < <(sed -n "$(((rounds + 1) / 2))p" "$world/shares") || fail "$what was not measured"
    row "$what" "$share" "$2" "µs: $ours µs, of which the provider and the way to it take $theirs µs"
}
