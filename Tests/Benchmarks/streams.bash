# shellcheck shell=bash
# A large body up and down, beside curl without anything between. Sourced by Tests/Benchmarks/bench.

# The least share of curl's speed, and the most MiB that the programs may add.
readonly stream_floor=0.7 stream_memory=16
readonly stream_rounds=${ROUNDS:-7}

streams() {
    start_sink
    fresh_agent --store memory
    uploads
    downloads
}

# For both sections.
readonly stream_text="In each round, the body is transferred once with curl and once with the other. The figure is the median of the ratios \
of the rounds."

uploads() {
    section "$stream_mib MiB up, beside curl to the server itself" 'it took|curl took' "$stream_text"
    local alone=(curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "$sink_url/up")
    start_upload_proxy
    streamed 'authc proxy' "$stream_floor" 'the agent and the proxy' "$agent_pid $upload_pid" \
        curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "$upload_url/up"
    end "$upload_pid" TERM
    streamed 'authc request' "$stream_floor" 'the agent' "$agent_pid" authc request PUT /up -s sink -d "@$world/upload"
    truncate -s 1M "$world/short-upload"
    grown authc request PUT /up -s sink -d "@$world/short-upload" -- authc request PUT /up -s sink -d "@$world/upload"
    start_relay
    streamed 'a relay in C' - '' '' curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "$relay_url/up"
    end "$relay_pid" TERM
}

# To /dev/null: `authc request` syncs a file to the disk, and curl does not.
downloads() {
    section "$stream_mib MiB down, beside curl from the server itself" 'it took|curl took' "$stream_text"
    local path=/down/$stream_mib alone=(curl -sSf --noproxy '*' -o /dev/null "$sink_url/down/$stream_mib")
    authc request GET "$path" -s sink --output "$world/download" >/dev/null || fail 'the download failed'
    [[ $(stat --format=%s "$world/download") == $((stream_mib << 20)) ]] || fail 'the download is not complete'
    rm "$world/download"
    start_upload_proxy
    streamed 'authc proxy' "$stream_floor" 'the agent and the proxy' "$agent_pid $upload_pid" \
        curl -sSf --noproxy '*' -o /dev/null "$upload_url$path"
    end "$upload_pid" TERM
    streamed 'authc request' "$stream_floor" 'the agent' "$agent_pid" authc request GET "$path" -s sink --output /dev/null
    grown authc request GET /down/1 -s sink --output /dev/null -- authc request GET "$path" -s sink --output /dev/null
    start_relay
    streamed 'a relay in C' - '' '' curl -sSf --noproxy '*' -o /dev/null "$relay_url$path"
    end "$relay_pid" TERM
}

# It only adds a second connection: no proxy can be faster. Sets relay_url and relay_pid.
start_relay() {
    : >"$world/relay-port"
    "$world/c/relay" "$world/relay-port" "$(<"$world/sink-port")" &
    relay_pid=$!
    started+=("$relay_pid")
    wait_until 5 'the relay does not listen' test -s "$world/relay-port"
    relay_url=http://127.0.0.1:$(<"$world/relay-port")
}

# streamed WHAT FLOOR WHOSE PIDS COMMAND…: its speed beside the command in `alone`, and how much the memory of these processes, if
# any, grows for it.
streamed() {
    local what=$1 least=$2 whose=$3 pids=$4 round ours theirs seen before=0 after=0 pid
    shift 4
    for pid in $pids; do
        # The peak begins at what is in use now (proc_pid_clear_refs(5)).
        echo 5 >"/proc/$pid/clear_refs"
        before=$((before + $(peak "$pid")))
    done
    for ((round = 0; round < stream_rounds; round++)); do
        # Neither always comes second.
        ((round % 2 == 0)) || theirs=$(milliseconds "${alone[@]}") || fail 'curl failed'
        ours=$(milliseconds "$@") || fail "$what: the transfer failed"
        ((round % 2 == 1)) || theirs=$(milliseconds "${alone[@]}") || fail 'curl failed'
        echo "$theirs $ours"
    done >"$world/times"
    for pid in $pids; do after=$((after + $(peak "$pid"))); done
    read -r seen ours theirs < <(awk '{ printf "%.2f %s %s\n", $1 / $2, $2, $1 }' "$world/times" | sort -rn | middle) ||
        fail "$what was not measured"
    floor "speed with $what" "$seen" "$least" "$ours ms" "$theirs ms"
    [[ -z $pids ]] ||
        row "memory with $what" "$(((after - before + 1023) / 1024))" "$stream_memory" "MiB more in $whose, at most"
}

# grown COMMAND… -- COMMAND…: how much more memory the second one takes, which sends or receives more.
grown() {
    local difference
    difference=$(python3 -c '
import os, resource, subprocess, sys
def most(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    return usage.ru_maxrss if status == 0 else sys.exit("it failed")
middle = sys.argv.index("--")
less, more = most(sys.argv[1:middle]), most(sys.argv[middle + 1:])
print(max(0, more - less + 1023) // 1024)' "$@") || fail 'the memory of authc request was not measured'
    row 'memory of authc request itself' "$difference" "$stream_memory" 'MiB more than for 1 MiB, at most'
}

# The most memory since clear_refs, in kB.
peak() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status"; }

milliseconds() {
    local begin=$EPOCHREALTIME end
    "$@" >/dev/null || return
    end=$EPOCHREALTIME
    echo $(((${end/./} - ${begin/./}) / 1000))
}
