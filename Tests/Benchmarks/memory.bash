# shellcheck shell=bash
# What an idle agent costs, and the size of the programs. Sourced by Tests/Benchmarks/bench.

# kB. The installed size has been 85 MB; lower its budget whenever that falls.
readonly anonymous_budget=6144 installed_budget=91136 agent_budget=30720 command_budget=8192
# Without systemd there is no watchdog, and no token is due in that time, so there are no wake-ups.
readonly wake_up_budget=0

idle() {
    section 'An idle agent with one session'
    settle
    local before wake_ups
    before=$(switches)
    sleep "$idle_seconds"
    wake_ups=$(($(switches) - before))
    row 'wake-ups' "$wake_ups" "$wake_up_budget" "in $idle_seconds s, all threads"
    row 'anonymous memory' "$(anonymous)" "$anonymous_budget" 'kB'
    row 'proportional set size (PSS)' "$(memory Pss)" - 'kB, with the pages of its file that are in memory'
}

sizes() {
    section 'Programs without symbols'
    row 'authd' "$(size authd)" "$agent_budget" 'kB'
    row 'authc' "$(size authc)" "$command_budget" 'kB'
    row 'authc-full' "$(size authc-full)" "$command_budget" 'kB'
    row 'all' "$(size authd authc authc-full authc-texts authd-gateway)" "$installed_budget" 'kB, authd-gateway too'
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

switches() {
    cat /proc/"$agent_pid"/task/*/status | awk '/ctxt_switches/ { sum += $2 } END { print sum }'
}

# Memory that belongs to the agent alone. Pages of its file are shared, and the kernel drops them when it needs room.
anonymous() { memory Anonymous; }

memory() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$agent_pid/smaps_rollup"; }

# The programs and the texts of authc, without symbols, where make install puts them.
install_programs() {
    # Variables of a make that runs this are not for that one.
    env -u MAKEFLAGS -u MAKELEVEL make --silent --directory="$here/../.." install RELEASE="$programs" PREFIX=/usr \
        DESTDIR="$world/installed" >"$world/log/install" 2>&1 || fail 'make install'
}

# The size of these installed files together, in kB.
size() {
    (cd "$world/installed/usr" && find bin libexec/authd-session -type f -printf '%f %s\n') |
        awk -v names="$*" 'index(" " names " ", " " $1 " ") { sum += $2 } END { printf "%d", sum / 1024 }'
}
