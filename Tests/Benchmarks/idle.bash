# shellcheck shell=bash
# How often an idle agent wakes up, and its memory. Sourced by Tests/Benchmarks/bench.

# Without systemd there is no watchdog, and no token is due in that time, so there are no wake-ups.
readonly wake_up_budget=0
# kB, with so many sessions.
readonly anonymous_budget=4096 idle_sessions=10
readonly idle_seconds=${IDLE:-600}

idle() {
    section "An idle agent with $idle_sessions sessions"
    local wake_ups way number budget=$wake_up_budget
    # One session is there already.
    start_provider bench
    authc reload >/dev/null 2>&1
    for ((number = 1; number < idle_sessions; number++)); do
        printf secret | authc login bench -s "idle-$number" --password-stdin --no-input >/dev/null || fail 'signing in'
    done
    settle
    if kernel_traces; then
        wake_ups=$(traced_switches)
        way="traced by the kernel$(awk '!seen[$1]++ { printf "%s %s", NR == 1 ? ":" : ",", $1 }' "$world/log/switches")"
    else
        # A thread that ends takes its count with it.
        budget=-
        way='by the counts of /proc, which miss threads that have ended; so this is no proof'
        wake_ups=$(switches)
        sleep "$idle_seconds"
        wake_ups=$(($(switches) - wake_ups))
        ((wake_ups >= 0)) || fail 'a thread of the idle agent has ended'
    fi
    row 'wake-ups' "$wake_ups" "$budget" "in $idle_seconds s, all threads, $way"
    row 'anonymous memory' "$(anonymous)" "$anonymous_budget" 'kB'
    row 'proportional set size (PSS)' "$(memory Pss)" - 'kB, with the pages of its file that are in memory'
    fresh_agent
    sleep 5
    row 'anonymous memory after a start' "$(anonymous)" "$anonymous_budget" 'kB, with the sessions in the keyring'
    for ((number = 1; number < idle_sessions; number++)); do
        authc logout -s "idle-$number" >/dev/null 2>&1 || fail 'signing out'
    done
}

# Whether perf(1) may record each switch of a thread, even in the kernel: a program that sleeps has one at least.
kernel_traces() {
    perf record -q -e context-switches -c 1 -o "$world/perf" -- sleep 0.1 2>/dev/null && (($(recorded_switches) > 0))
}

# A thread that has run gives its processor away, so each wake-up ends with a switch. Threads that begin meanwhile are traced, too.
traced_switches() {
    perf record -q -e context-switches -c 1 -p "$agent_pid" -o "$world/perf" -- sleep "$idle_seconds" 2>"$world/log/perf" ||
        fail 'perf does not record'
    recorded_switches
}

recorded_switches() {
    perf script -i "$world/perf" -F comm,tid,time 2>/dev/null | tee "$world/log/switches" | wc -l
}

switches() {
    cat /proc/"$agent_pid"/task/*/status | awk '/ctxt_switches/ { sum += $2 } END { print sum }'
}

threads_and_files() { echo "/proc/$agent_pid/task/"* "/proc/$agent_pid/fd/"*; }

# After a sign-in, Swift's workers end after 5 s, the connection to the provider after 20 s, and the timer of its requests
# after 60 s. Between two of these ends it is quiet for 60 s at most.
# The agent is idle after that.
settle() {
    local since=$SECONDS seen now deadline=$((SECONDS + 240))
    seen=$(threads_and_files)
    while ((SECONDS - since < 62)); do
        ((SECONDS < deadline)) || fail 'the threads or connections of authd come and go'
        sleep 0.5
        now=$(threads_and_files)
        [[ $now == "$seen" ]] || since=$SECONDS
        seen=$now
    done
}
