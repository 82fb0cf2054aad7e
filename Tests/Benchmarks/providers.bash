# shellcheck shell=bash
# Providers that do nothing but answer, profiles for them, and many sessions. Sourced by Tests/Benchmarks/bench.
#
# start_provider NAME [SECONDS]       a provider whose tokens live so long (an hour), if it does not run, and its
#                                     profile; sets provider_port and provider_pid
# fresh_agent OPTION…                 an agent in place of the one that runs
# sign_in_many NUMBERS NAME PROVIDER  sessions at a provider: so many, or from A to B - 1 with A-B; in NAME and PROVIDER, `#` is the
#                                     number (see many.c). With at=SOCKET they are sessions of another agent
# environment E                       the agent sends at most ten renewals in a second to each environment of a provider: sessions
#                                     of sign_in_many are spread over e0 to e3

start_provider() {
    local name=$1 lifetime=${2-3600}
    if [[ ! -s $world/$name-port ]]; then
        "$world/c/provider" "$world/$name-port" "$lifetime" &
        provider_pid=$!
        started+=("$provider_pid")
        wait_until 5 'the provider does not listen' test -s "$world/$name-port"
    fi
    provider_port=$(<"$world/$name-port")
    profile "$name" "http://127.0.0.1:$provider_port" 'body = { refresh_token = "{refresh_token}" }' <<REPLY
access_token = "/access_token"
refresh_token = "/refresh_token"
expires_in = "/expires_in"
REPLY
}

# profile NAME URL RENEWAL [PATH]: where the values are in its responses comes from stdin; RENEWAL is a line of the request.
profile() {
    local name=$1 url=$2 renewal=$3 path=${4-/refresh}
    mkdir -p "$XDG_CONFIG_HOME/authd/providers"
    cat >"$XDG_CONFIG_HOME/authd/providers/$name.toml" <<PROFILE
name = "$name"
[environments]
production = "$url"
e0 = "$url"
e1 = "$url"
e2 = "$url"
e3 = "$url"
[sign_in.password]
fields = [{ name = "password", kind = "password" }]
[sign_in.password.request]
method = "POST"
path = "/login"
body = { password = "{password}" }
[reply]
$(cat)
[renewal]
kind = "refresh"
[renewal.request]
method = "POST"
path = "$path"
$renewal
PROFILE
}

# The profile of a session with a fixed token, which is checked at PATH: key_profile NAME URL PATH
key_profile() {
    mkdir -p "$XDG_CONFIG_HOME/authd/providers"
    cat >"$XDG_CONFIG_HOME/authd/providers/$1.toml" <<PROFILE
name = "$1"
[environments]
production = "$2"
[sign_in.key]
kind = "key"
fields = [{ name = "key", kind = "key" }]
token = "{key}"
[validation]
method = "GET"
path = "$3"
bearer = true
[renewal]
kind = "none"
PROFILE
}

fresh_agent() {
    authd --check >"$world/log/check" 2>&1 || fail 'the settings or a profile are not valid'
    end_agent
    start_agent --log-level info "$@"
}

# If the agent has ended, another program may have its number.
end_agent() { [[ " ${started[*]} " != *" $agent_pid "* ]] || end "$agent_pid" TERM; }

# request METHOD PARAMS: a line of the protocol.
request() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":{%s}}' "$1" "$2"; }

sign_in_many() {
    local numbers=$1 name=$2 provider=$3 first=0
    [[ $numbers != *-* ]] || first=${numbers%-*}
    "$world/c/many" "$((${numbers#*-} - first))" 8 0 "$numbers" "${at-$socket}" "$(request login.start \
        "\"provider\":\"$provider\",\"session\":\"$name\",\"environment\":\"e@\",\"fields\":{\"password\":\"secret\"}")" \
        >/dev/null || fail "signing in $numbers as $name"
}

# The request that renews one of the sessions of sign_in_many.
renewal_of() { request session.refresh "\"session\":\"$1\""; }
