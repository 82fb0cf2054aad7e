# shellcheck shell=bash
# Many sessions that are renewed when their tokens are about to end, and a forced renewal beside oidc-agent's. Sourced by
# Tests/Benchmarks/bench.

# The 99th percentile of other callers, as a multiple of the same before.
readonly others_budget=2.0
# Tokens that live so long, in seconds, are renewed after 52 to 60 s (RenewalPolicy): each session once in a minute.
readonly renewed_sessions=${SESSIONS:-1000} short_lifetime=80 quiet_seconds=15
readonly refreshed_times=10

renewing() {
    section "$renewed_sessions sessions whose tokens end within a minute"
    local count before cpu memory idle_cpu quiet begin renewed seconds busy worst most=0
    start_provider bench
    start_provider short "$short_lifetime"
    fresh_agent --store memory
    sign_in_many 1 main bench
    # Other callers: a token a hundred times in a second. What they cost is subtracted.
    cpu=$(cpu_ms)
    quiet=$(callers $((quiet_seconds * 100)))
    idle_cpu=$(($(cpu_ms) - cpu))
    sign_in_many "$renewed_sessions" 's#' short
    before=$(tokens_given short)
    memory=$(anonymous)
    wait_until "$short_lifetime" 'no session is renewed' renewed_since "$before"
    begin=$SECONDS
    cpu=$(cpu_ms)
    : >"$world/callers" >"$world/caller-times"
    while (($(tokens_given short) - before < renewed_sessions)); do
        ((SECONDS - begin < 3 * short_lifetime)) || fail 'the sessions are not renewed'
        callers 100 "$world/caller-times" >>"$world/callers"
        count=$(anonymous)
        ((count <= most)) || most=$count
    done
    seconds=$((SECONDS - begin))
    cpu=$(($(cpu_ms) - cpu - idle_cpu * seconds / quiet_seconds))
    renewed=$(($(tokens_given short) - before))
    busy=$(sort -n "$world/caller-times" | awk '{ all[NR] = $1 } END { print all[NR - int(NR / 100)] }')
    worst=$(sort -n "$world/callers" | tail -n 1)
    row 'requests to the provider' "$renewed" - "the first one, then all others in $seconds s"
    row 'processor time' "$(awk "BEGIN { printf \"%.2f\", $cpu / 1000 }")" - \
        "s, $(awk "BEGIN { printf \"%.2f\", $cpu / $renewed }") ms for each renewal"
    row 'memory' "$(((most - memory + 1023) / 1024))" - "MiB more at most; $((memory / 1024)) MiB before"
    row 'p99 of other callers' "$(awk "BEGIN { printf \"%.2f\", $busy / $quiet }")" "$others_budget" \
        "$busy µs beside $quiet µs before; $worst µs in the worst second"
    beside_oidc_agent
}

# callers COUNT [FILE]: a token each 10 ms; prints the 99th percentile in µs. All times are added to FILE.
callers() {
    "$world/c/many" "$1" 1 10 1 "$socket" "$(request token.get '"session":"main"')" "${@:2}" | cut -d ' ' -f 2
}

# renewed_since COUNT: the provider has given more tokens than that.
renewed_since() { (($(tokens_given short) > $1)); }

# What the agent has used.
cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$agent_pid/stat"; }

tokens_given() { curl -sSf --noproxy '*' "http://127.0.0.1:$(<"$world/$1-port")/"; }

# The same server, and the same user and client there.
beside_oidc_agent() {
    if [[ ! ${glewlwyd_url-} ]]; then
        installed "${oidc_programs[@]}" || return 0
        start_oidc_agent
    fi
    section 'A forced renewal, from start to exit, beside oidc-agent' 'authc|oidc-token|authc, longest|oidc-token, longest' \
        "In each run, both are started $refreshed_times times, in turn."
    local client='client_id = "bench", client_secret = "bench-secret"'
    cat >"$XDG_CONFIG_HOME/authd/providers/glewlwyd.toml" <<PROFILE
name = "glewlwyd"
[environments]
production = "$glewlwyd_url/api/oidc"
[sign_in.password]
fields = [{ name = "password", kind = "password" }]
[sign_in.password.request]
method = "POST"
path = "/token"
form = { grant_type = "password", $client, scope = "scope1", username = "ada", password = "{password}" }
[reply]
access_token = "/access_token"
refresh_token = "/refresh_token"
expires_in = "/expires_in"
[renewal]
kind = "refresh"
[renewal.request]
method = "POST"
path = "/token"
form = { grant_type = "refresh_token", $client, refresh_token = "{refresh_token}" }
PROFILE
    # With the keyring: oidc-agent writes its file, too, when the refresh token is replaced.
    fresh_agent
    printf bench-password | authc login glewlwyd -s glewlwyd --password-stdin --no-input >/dev/null || fail 'signing in at glewlwyd'
    ratio 'authc refresh beside oidc-token --force-new' 1.0 \
        "$world/c/start" "$refreshed_times" "$programs/authc" refresh -s glewlwyd -- "$(command -v oidc-token)" --force-new bench
    authc logout -s glewlwyd >/dev/null 2>&1 || true
}
