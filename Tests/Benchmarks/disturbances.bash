# shellcheck shell=bash
# A good client beside what disturbs the agent, and without it. Sourced by Tests/Benchmarks/bench.

# As a multiple of the same without it: beside what attacks the agent, and beside all else.
readonly attack_budget=3.0 disturbance_budget=2.0
readonly disturbance_rounds=${ROUNDS:-5} disturbing_sessions=${SESSIONS:-1000}
# Seconds and rounds beside what is slow or rare: a few requests might not meet it.
readonly rare_seconds=10 rare_rounds=${ROUNDS:-3}
readonly peers=$here/../TestSupport/peers

# The ways of hostile-client.py.
readonly hostile_clients=(half-lines huge-lines deep values batches broken pings deaf crowd churn waiting inherited given)
# Those of hostile-provider.py, as paths. Its ports with HTTP/2 are those of `h2-…`.
readonly hostile_bodies=(
    endless-body endless-chunks chunk-extension trailers gzip deflate gzip-twice deep values half length two-lengths)
readonly hostile_heads=(endless-headers huge-header huge-reason early continue slow text)
readonly hostile_redirects=(file script other name user relative loop get)

disturbances() {
    section 'The 99th percentile of a good client beside a disturbance' "$beside_columns|requests that disturb" "$beside_text"
    start_provider bench
    # A program that reads it waits as long as this script lives.
    mkfifo "$world/open-input"
    exec {open_input}<>"$world/open-input"
    start_hostile_provider
    start_sink yielding
    quiet_agent --store memory
    lasting=$rare_seconds disturbed 'a provider that never answers' "$disturbance_budget" \
        "$world/c/many" 0 16 0 16 "$socket" "$(renewal_of 'silent-#')"
    sign_in_many "$disturbing_sessions" 's#' bench
    # So many that a thousand are renewed in a minute.
    lasting=$rare_seconds least_answered=1 disturbed "$disturbing_sessions sessions that renew" "$disturbance_budget" \
        "$world/c/many" 0 64 60 "$disturbing_sessions" "$socket" "$(renewal_of 's#')"
    uploads_beside
    clients_beside
    providers_beside
    keyring_beside
}

# disturbed WHAT BUDGET COMMAND…: COMMAND prints a line when it has begun, and goes on until it is ended. It prints "answered" for each
# request, or at its end how many answers it has had, and how many errors among them. It yields to the client: see yielding. With `lasting`
# the client asks for so many seconds, and `least_answered` is how many requests of COMMAND are answered in each round at least. `before` and
# `after` are commands around COMMAND.
disturbed() {
    local what=$1 budget=$2 samples=${lasting:+${lasting}s} count=$disturbance_rounds round program quiet loud echoed answers errors
    shift 2
    : "${samples:=$flood_trips}"
    [[ -z ${lasting-} ]] || count=$rare_rounds
    for ((round = 0; round < count; round++)); do
        read -r quiet _ < <(p99_trip "$samples") || fail "$what: the good client failed"
        ${before-:}
        : >"$world/begun"
        yielding "$@" <&"$open_input" >"$world/begun" 2>>"$world/log/disturbance" &
        program=$!
        started+=("$program")
        wait_until 20 "$what: it does not begin" test -s "$world/begun"
        read -r loud echoed < <(p99_trip "$samples") || fail "$what: the good client failed"
        kill -0 "$program" || fail "$what: it ended"
        end "$program" TERM
        read -r answers errors < <(awk '/^[0-9]+ [0-9]+$/ { print } /^answered$/ { count++ } END { if (count) print count }' \
            "$world/begun") || true
        ((${answers:-0} >= ${least_answered-0})) || fail "$what: too few requests were answered"
        ${after-:}
        echo "$quiet $loud $echoed ${answers:+$answers answered}${errors:+, $errors with an error}"
    done >"$world/times"
    beside_row "$what" "$budget"
}

# An agent with the session that the good client uses, which gives up a request to a provider soon.
quiet_agent() {
    # The profiles are beside the settings.
    local settings=$XDG_CONFIG_HOME/authd/impatient.toml
    { cat "$XDG_CONFIG_HOME/authd/authd.toml"
      printf '[http]\nca_file = "%s/hostile/ca.pem"\nrequest_timeout = "1s"\ntotal_timeout = "2s"\n' "$world"; } >"$settings"
    fresh_agent --config "$settings" "$@"
    sign_in_many 1 shop bench
    authc use shop >/dev/null || fail 'the session is not the default one'
    if [[ $* == *memory* ]]; then sign_in_many 16 'silent-#' silent; fi
    pin "$processor" "$agent_pid" "$echo_pid"
}

clients_beside() {
    local way
    for way in "${hostile_clients[@]}"; do
        disturbed "a hostile client: $way" "$attack_budget" /usr/bin/python3 -B "$peers/hostile-client.py" "$way" "$socket"
    done
}

# Sets hostile_url. One profile for each way, whose renewals get it.
start_hostile_provider() {
    local index way
    mkdir "$world/hostile"
    yielding /usr/bin/python3 -B "$peers/hostile-provider.py" "$world/hostile" <&"$open_input" >"$world/hostile/port" \
        2>"$world/log/hostile-provider" &
    started+=("$!")
    wait_until 20 'the hostile provider does not listen' test -s "$world/hostile/port"
    hostile_url=http://127.0.0.1:$(cut -d ' ' -f 2 "$world/hostile/port")
    hostile_profile silent /silent
    for index in "${!hostile_bodies[@]}"; do hostile_profile "body$index" "/${hostile_bodies[index]}"; done
    for index in "${!hostile_heads[@]}"; do hostile_profile "head$index" "/${hostile_heads[index]}"; done
    for index in "${!hostile_redirects[@]}"; do hostile_profile "redirect$index" "/redirect-${hostile_redirects[index]}"; done
    h2_count=0
    for way in $(curl -sf --noproxy '*' "$hostile_url/ports" |
        python3 -c 'import json, sys; print(*(port for name, port in json.load(sys.stdin).items() if name.startswith("h2-")))'); do
        printf 'expires_in = "/expires_in"\naccess_token = "/token"\n' |
            profile "h$h2_count" "https://127.0.0.1:$way" 'bearer = true'
        h2_count=$((h2_count + 1))
    done
    ((h2_count > 0)) || fail 'the hostile provider has no ports with HTTP/2'
}

# hostile_profile NAME PATH: sign-ins succeed.
hostile_profile() {
    printf 'expires_in = "/expires_in"\naccess_token = "/token"\n' | profile "$1" "$hostile_url/good" 'bearer = true' "$2"
}

# All sign in first: the provider answers slowly after it has compressed its bodies.
providers_beside() {
    local after=provider_rests lasting=$rare_seconds
    sign_in_many ${#hostile_bodies[@]} 'body-#' 'body#'
    sign_in_many ${#hostile_heads[@]} 'head-#' 'head#'
    sign_in_many ${#hostile_redirects[@]} 'redirect-#' 'redirect#'
    renewals_beside body ${#hostile_bodies[@]}
    renewals_beside head ${#hostile_heads[@]}
    renewals_beside redirect ${#hostile_redirects[@]}
    disturbed "a hostile provider: HTTP/2 in $h2_count ways" "$attack_budget" \
        "$world/c/many" 0 "$h2_count" 100 "$h2_count" "$socket" \
        "$(request login.start '"provider":"h#","session":"h2-#","replace_sign_in":true,"fields":{"password":"secret"}')"
}

renewals_beside() {
    disturbed "a hostile provider: $1 in $2 ways" "$attack_budget" \
        "$world/c/many" 0 "$2" 100 "$2" "$socket" "$(renewal_of "$1-#")"
}

# What it sends ends with the agent's limit for a response.
provider_rests() {
    sleep 2
    wait_until 60 'the hostile provider does not rest' curl -sf -m 0.5 -o /dev/null --noproxy '*' "$hostile_url/ports"
}

# start_sink [COMMAND]: sets sink_url, the address of a server that reads everything, and sink_pid, and makes a profile for it. COMMAND
# runs it.
start_sink() {
    [[ -z ${sink_url-} ]] || return 0
    rm -f "$world/sink-port"
    "$@" "$world/c/sink" "$world/sink-port" &
    sink_pid=$!
    started+=("$sink_pid")
    wait_until 5 'the server for uploads does not listen' test -s "$world/sink-port"
    sink_url=http://127.0.0.1:$(<"$world/sink-port")
    key_profile sink "$sink_url" /begin
    truncate -s "${stream_mib}M" "$world/upload"
}

# start_upload_proxy [COMMAND]: sets upload_url, an address of `authc proxy`, and upload_pid. COMMAND runs it.
start_upload_proxy() {
    # It shows the server's message.
    printf token | authc login sink -s sink --password-stdin --no-input >/dev/null 2>>"$world/log/sink" ||
        fail 'signing in with a key'
    : >"$world/upload-url"
    "$@" authc proxy -s sink --listen 127.0.0.1:0 >"$world/upload-url" &
    upload_pid=$!
    started+=("$upload_pid")
    wait_until 10 'authc proxy does not listen' test -s "$world/upload-url"
    upload_url=$(<"$world/upload-url")
}

# Before a command: runs it for disturbed, again and again until it fails.
# shellcheck disable=SC2016 # The other shell expands it.
readonly repeating=(bash -c 'trap "kill \$!; exit" TERM; echo begun; while "$@" >/dev/null & wait $!; do echo answered; done' bash)

uploads_beside() {
    local lasting=$rare_seconds least_answered=1
    start_upload_proxy yielding
    disturbed "uploads of $stream_mib MiB with authc proxy" "$disturbance_budget" \
        "${repeating[@]}" curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "$upload_url/up"
    end "$upload_pid" TERM
    disturbed "uploads of $stream_mib MiB with authc request" "$disturbance_budget" \
        "${repeating[@]}" authc request PUT /up -s sink -d "@$world/upload"
    # Others measure how fast it is.
    end "$sink_pid" TERM
    sink_url=
}

# The keyring is stopped, and sessions are renewed whose tokens it should store.
keyring_beside() {
    quiet_agent
    sign_in_many 16 'kept-#' bench
    lasting=$rare_seconds before="kill -STOP $keyring_pid" after=continue_keyring disturbed 'a keyring that hangs' "$disturbance_budget" \
        "$world/c/many" 0 16 0 16 "$socket" "$(renewal_of 'kept-#')"
    authc logout --all --yes >/dev/null 2>&1
}

# Until the agent has written what waited.
continue_keyring() {
    kill -CONT "$keyring_pid"
    wait_until 30 'the keyring does not answer' keyring_has_all
}

keyring_has_all() { ! authc list --json | grep -q '"unsaved":true'; }
