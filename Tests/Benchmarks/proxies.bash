# shellcheck shell=bash
# A large body through a proxy that adds the token, beside nginx as a proxy. Sourced by Tests/Benchmarks/bench.

# As a multiple of nginx.
readonly stream_budget=1.67
# Debian's folder is not in everybody's PATH.
readonly nginx=/usr/sbin/nginx

proxies() {
    installed "$nginx" || return 0
    section 'A large body through a proxy, beside nginx' 'authc proxy|nginx' "In each round, the body is received once through each, and the \
figure is the median of the ratios of the rounds."
    start_proxies
    ratio "$stream_mib MiB" "$stream_budget" stream_trip
}

# Starts nginx as a server and as a proxy of it, and `authc proxy` for a session there; sets nginx_url and proxy_url.
start_proxies() {
    local server_port proxy_port
    read -r server_port proxy_port < <(free_ports)
    mkdir -p "$world/nginx" "$XDG_CONFIG_HOME/authd/providers"
    truncate -s "${stream_mib}M" "$world/nginx/file"
    printf ok >"$world/nginx/key"
    "$here/proxy-config" "$world/nginx" "$server_port" "$proxy_port" >"$world/nginx.conf"
    "$nginx" -e "$world/nginx/error" -c "$world/nginx.conf" &
    started+=("$!")
    key_profile files "http://127.0.0.1:$server_port" /key
    authc reload >/dev/null 2>&1
    printf token | authc login files -s files --password-stdin --no-input >/dev/null || fail 'signing in with a key'
    authc proxy -s files --listen 127.0.0.1:0 >"$world/proxy-url" &
    started+=("$!")
    wait_until 10 'authc proxy does not listen' test -s "$world/proxy-url"
    nginx_url=http://127.0.0.1:$proxy_port/file
    proxy_url=$(<"$world/proxy-url")/file
    wait_until 10 'nginx does not listen' curl --silent --noproxy '*' --output /dev/null "$nginx_url"
}

# As ratio expects them, in its round: two times in µs, ours first.
stream_trip() {
    local ours theirs
    # Neither always comes second.
    ((round % 2 == 0)) || theirs=$(transfer_time "$nginx_url") || return
    ours=$(transfer_time "$proxy_url") || return
    ((round % 2 == 1)) || theirs=$(transfer_time "$nginx_url") || return
    awk "BEGIN { printf \"%d %d\\n\", $ours * 1e6, $theirs * 1e6 }"
}

transfer_time() { curl --silent --fail --noproxy '*' --output /dev/null --write-out '%{time_total}' "$1"; }
