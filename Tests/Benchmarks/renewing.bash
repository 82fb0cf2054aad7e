# shellcheck shell=bash
# Many sessions that are renewed when their tokens are about to end, and a forced renewal beside oidc-agent's. Sourced by
# Tests/Benchmarks/bench.

# The 99th percentile of other callers, as a multiple of the same before.
readonly others_budget=2.0
# Tokens that live so long, in seconds, are renewed after 52 to 60 s (RenewalPolicy): each session once in a minute.
readonly renewed_sessions=${SESSIONS:-1000} short_lifetime=80 quiet_seconds=15 renewing_seconds=60
readonly refreshed_times=10

renewing() {
    section "$renewed_sessions sessions whose tokens end within a minute"
    local count before cpu memory idle_cpu quiet begin requests renewed busy worst most=0
    start_provider bench
    start_provider short "$short_lifetime"
    fresh_agent --store memory
    sign_in_many 1 main bench
    # Other callers: a token a hundred times in a second. What they cost is subtracted.
    cpu=$(cpu_us)
    quiet=$(callers $((quiet_seconds * 100)))
    idle_cpu=$(($(cpu_us) - cpu))
    sign_in_many "$renewed_sessions" 's#' short
    read -r before _ < <(tokens_given short)
    memory=$(anonymous)
    wait_until "$short_lifetime" 'no session is renewed' renewed_since "$before"
    begin=$SECONDS
    cpu=$(cpu_us)
    : >"$world/callers" >"$world/caller-times"
    while ((SECONDS - begin < renewing_seconds)); do
        callers 100 "$world/caller-times" >>"$world/callers"
        count=$(anonymous)
        ((count <= most)) || most=$count
    done
    cpu=$(($(cpu_us) - cpu - idle_cpu * renewing_seconds / quiet_seconds))
    read -r requests renewed < <(tokens_given short)
    requests=$((requests - before))
    busy=$(sort -n "$world/caller-times" | awk '{ all[NR] = $1 } END { print all[NR - int(NR / 100)] }')
    worst=$(sort -n "$world/callers" | tail -n 1)
    floor 'renewed sessions' "$renewed" "$renewed_sessions" "in $renewing_seconds s from the first renewal on"
    row 'requests to the provider' "$requests" - "in that time; a session may be renewed again"
    row 'processor time' "$(awk "BEGIN { printf \"%.2f\", $cpu / 1e6 }")" - \
        "s, $(awk "BEGIN { printf \"%.2f\", $cpu / 1000 / $requests }") ms for each request; without what the other callers need"
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
renewed_since() { local tokens; read -r tokens _ < <(tokens_given short); ((tokens > $1)); }

# The processor time of the agent in µs, by its clock (MAKE_PROCESS_CPUCLOCK of the kernel): the times in /proc have steps of 10 ms.
cpu_us() { python3 -c 'import sys, time; print(time.clock_gettime_ns(~int(sys.argv[1]) << 3 | 2) // 1000)' "$agent_pid"; }

# The tokens that a provider has given, and how many of its sign-ins have been renewed.
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
