# shellcheck shell=bash
# A large body up, beside curl without anything between. Sourced by Tests/Benchmarks/bench.

# As a part of curl's speed; MiB that the programs may take for it.
readonly upload_floor=0.7 upload_memory=16
readonly upload_rounds=${ROUNDS:-7}

uploads() {
    section "$stream_mib MiB up, beside curl to the server itself"
    start_sink
    fresh_agent --store memory
    start_upload_proxy
    uploaded 'authc proxy' "$upload_floor" 'the agent and the proxy' "$agent_pid $upload_pid" \
        curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "$upload_url/up"
    end "$upload_pid" TERM
    uploaded 'authc request' "$upload_floor" 'the agent' "$agent_pid" authc request PUT /up -s sink -d "@$world/upload"
    # It only adds a second connection: no proxy can be faster.
    "$world/c/relay" "$world/relay-port" "$(<"$world/sink-port")" &
    upload_pid=$!
    started+=("$upload_pid")
    wait_until 5 'the relay does not listen' test -s "$world/relay-port"
    uploaded 'a relay in C' - '' '' \
        curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "http://127.0.0.1:$(<"$world/relay-port")/up"
    end "$upload_pid" TERM
}

# uploaded WHAT FLOOR WHOSE PIDS COMMAND…: its speed, and how much the memory of these processes, if any, grows for it.
uploaded() {
    local what=$1 least=$2 whose=$3 pids=$4 round ours theirs seen before=0 after=0 pid
    shift 4
    for pid in $pids; do
        # The peak begins at what is in use now (proc_pid_clear_refs(5)).
        echo 5 >"/proc/$pid/clear_refs"
        before=$((before + $(peak "$pid")))
    done
    for ((round = 0; round < upload_rounds; round++)); do
        ours=$(milliseconds "$@") || fail "$what: the upload failed"
        theirs=$(milliseconds curl -sSf --noproxy '*' -T "$world/upload" -o /dev/null "$sink_url/up") || fail 'curl failed'
        echo "$theirs $ours"
    done | awk '{ printf "%.2f %s %s\n", $1 / $2, $2, $1 }' | sort -n >"$world/ratios"
    for pid in $pids; do after=$((after + $(peak "$pid"))); done
    read -r seen ours theirs < <(sed -n "$(((upload_rounds + 1) / 2))p" "$world/ratios") || fail "$what was not measured"
    floor "with $what" "$seen" "$least" "of curl's speed: $ours ms beside $theirs ms"
    [[ -z $pids ]] ||
        row "memory with $what" "$(((after - before + 1023) / 1024))" "$upload_memory" "MiB more in $whose, at most"
}

# The most memory since clear_refs, in kB.
peak() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status"; }

milliseconds() {
    local begin=$EPOCHREALTIME end
    "$@" >/dev/null || return
    end=$EPOCHREALTIME
    echo $(((${end/./} - ${begin/./}) / 1000))
}
