# shellcheck shell=bash
# A world for one script: a folder, a bus, a keyring, the stand-in backends and an agent, all of its own.
# Sourced by Tests/Demo/demo and Tests/Benchmarks/bench; ends everything it started when the script ends.
#
# world_begin PROGRAMS [STAND-IN-OPTION…]   PROGRAMS is the folder with authd, authc and stand-in-backends
# start_agent [AUTHD-OPTION…]               sets agent_pid; the socket answers when it returns
# order BACKEND JSON                        tells a stand-in to behave otherwise
# counts BACKEND WORD                       how many of its calls had WORD in their path
# wait_until SECONDS WHAT COMMAND…          until COMMAND succeeds; fails with WHAT

readonly providers=(aws-lambda envelope anonymous-wall fork-in-the-road app-template)
readonly person=ada@example.org
readonly person_password=Correct-horse1

world=
programs=
agent_pid=
keyring_pid=
started=()
told=

# Every line of a failure goes to stderr; the folder with the logs is gone afterwards, so their ends are shown.
fail() {
    told=yes
    printf '\nFAILED: %s\n' "$1" >&2
    local log
    for log in "$world"/log/*; do
        [[ -s $log ]] || continue
        printf -- '--- the end of %s\n' "${log##*/}" >&2
        tail -n 15 "$log" >&2
    done
    exit 1
}

wait_until() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < deadline)) || fail "$what"
        sleep 0.1
    done
}

world_begin() {
    # For numbers: EPOCHREALTIME has the decimal point of the locale.
    export LC_ALL=C.UTF-8
    programs=$(cd "$1" && pwd)
    shift
    local program
    for program in authd authc authc-full authd-gateway stand-in-backends; do
        [[ -x $programs/$program ]] || fail "$programs/$program is not there: run make build"
    done
    world=$(mktemp -d "${TMPDIR:-/tmp}/authd-world.XXXXXX")
    trap world_end EXIT
    set -o errtrace
    trap 'unexpected="${BASH_SOURCE[0]##*/}, line $LINENO: $BASH_COMMAND"' ERR
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM

    local variable
    for variable in DISPLAY WAYLAND_DISPLAY AUTHD_SOCKET AUTHD_SESSION NOTIFY_SOCKET LISTEN_FDS LISTEN_PID \
        WATCHDOG_USEC {http,https,all,no}_proxy {HTTP,HTTPS,ALL,NO}_PROXY; do
        unset "$variable"
    done
    export HOME=$world/home XDG_RUNTIME_DIR=$world/run XDG_CONFIG_HOME=$world/config
    export XDG_STATE_HOME=$world/state XDG_DATA_HOME=$world/data
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
    export PATH=$programs:$PATH
    mkdir -m 700 "$HOME" "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_DATA_HOME" "$world/log"

    start_bus
    start_keyring
    start_stand_ins "$@"
    write_settings
}

# world_end [STATUS]: exits with this status, or that of the last command.
world_end() {
    local status=${1-$?}
    trap - EXIT HUP INT TERM ERR
    if ((status > 0 && status < 128)) && [[ -z $told ]]; then
        # A command failed that nobody had thought of.
        (fail "${unexpected:-a command} ended with $status") || true
    fi
    # The last one started is the first to end: nobody loses what it still needs.
    while ((${#started[@]} > 0)); do end "${started[-1]}" TERM; done
    rm -rf "$world"
    exit "$status"
}

# end PID SIGNAL: sends it, then waits; what does not end in 10 s is killed, and what is stopped (SIGSTOP) continues. Quiet: bash tells of every killed child. Another program
# may get the number afterwards, so it is removed from those to end.
end() {
    local pid=$1 deadline=$((SECONDS + 10)) other left=()
    kill "-$2" "$pid" || true
    kill -CONT "$pid" || true
    while kill -0 "$pid" && ((SECONDS < deadline)); do sleep 0.02; done
    kill -KILL "$pid" || true
    wait "$pid" || true
    for other in "${started[@]}"; do [[ $other == "$pid" ]] || left+=("$other"); done
    started=("${left[@]}")
} 2>/dev/null

# A bus without service files: it starts nothing by itself.
start_bus() {
    cat >"$world/bus.conf" <<BUS
<busconfig>
  <type>session</type>
  <listen>$DBUS_SESSION_BUS_ADDRESS</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
BUS
    dbus-daemon --config-file="$world/bus.conf" --nofork --nopidfile >"$world/log/bus" 2>&1 &
    started+=($!)
    wait_until 10 'the bus does not answer' has_owner org.freedesktop.DBus
}

start_keyring() {
    gnome-keyring-daemon --foreground --unlock --components=secrets < <(printf keyring) >"$world/log/keyring" 2>&1 &
    keyring_pid=$!
    started+=("$keyring_pid")
    wait_until 10 'gnome-keyring does not come up' has_owner org.freedesktop.secrets
}

has_owner() {
    local answer
    answer=$(gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
        --method org.freedesktop.DBus.NameHasOwner "$1" 2>/dev/null) && [[ $answer == '(true,)' ]]
}

start_stand_ins() {
    stand-in-backends --port-file "$world/ports" --email "$person" --password "$person_password" "$@" \
        >"$world/log/stand-ins" 2>&1 &
    started+=($!)
    wait_until 10 'the stand-in backends do not listen' test -s "$world/ports"
}

# Each provider gets an environment named demo: the stand-in's address.
write_settings() {
    mkdir -m 700 "$XDG_CONFIG_HOME/authd"
    local provider
    for provider in "${providers[@]}"; do
        printf '[providers.%s.environments]\ndemo = "%s"\n\n' "$provider" "$(json "$provider" <"$world/ports")"
    done >"$XDG_CONFIG_HOME/authd/authd.toml"
}

start_agent() {
    authd "$@" 2>>"$world/log/authd" &
    agent_pid=$!
    started+=("$agent_pid")
    wait_until 10 'authd does not answer on its socket' agent_answers
}

# It serves, and has found its store.
agent_answers() {
    kill -0 "$agent_pid" 2>/dev/null || fail 'authd ended'
    [[ $(authc version --json 2>/dev/null | json agent store state) == ready ]]
}

sign_in() {
    printf '%s' "$person_password" |
        authc login "$1" -s "$1" --environment demo --field "email=$person" --password-stdin --no-input
}

# json KEY…: the value under those keys of the JSON on stdin; nothing when it is not there.
json() {
    python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value.get(key) if isinstance(value, dict) else None
print("" if value is None else value if isinstance(value, str) else json.dumps(value))' "$@"
}

# control METHOD PATH [JSON]: asks the stand-ins.
control() {
    python3 -c '
import sys, urllib.request
address, method, path = sys.argv[1:4]
body = sys.argv[4].encode() if len(sys.argv) > 4 else None
request = urllib.request.Request(address.rstrip("/") + path, body, {"Content-Type": "application/json"}, method=method)
sys.stdout.write(urllib.request.urlopen(request, timeout=10).read().decode())' \
        "$(json control <"$world/ports" | sed 's|/control/*$||')" "$@"
}

order() {
    control POST "/control/$1" "$2" >/dev/null || fail "the stand-in $1 did not take the order $2"
}

counts() {
    control GET /control/counts | python3 -c '
import json, sys
backend, word = sys.argv[1:]
print(sum(count for call, count in json.load(sys.stdin)[backend].items() if word in call))' "$@"
}
