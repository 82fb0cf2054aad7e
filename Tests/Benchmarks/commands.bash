# shellcheck shell=bash
# From start to exit: authc's commands that only read, beside a C program that makes one round trip, and beside what other
# programs answer the same question with. Sourced by Tests/Benchmarks/bench.

# As a multiple of the C program: for the plain forms, and for all.
readonly plain_budget=1.5 any_budget=2.0

# command BUDGET ARGUMENT…: one command of authc beside the C program that gets a token.
command_row() {
    local budget=$1
    shift
    ratio "authc $*" "$budget" "$world/c/start" "$starts" "$world/installed/usr/bin/authc" "$@" -- "$world/c/token" "$socket"
}

commands() {
    section 'Commands, from start to exit, beside a C program with one round trip' 'authc|in C|authc, p99|in C, p99'
    local words
    for words in token status list whoami network wait; do
        # shellcheck disable=SC2086 # These are words.
        command_row "$plain_budget" $words
        # shellcheck disable=SC2086
        command_row "$any_budget" $words --json
    done
    for words in --version --help 'token --help' 'help token' 'completion bash' 'completion zsh' 'completion fish'; do
        # shellcheck disable=SC2086
        command_row "$any_budget" $words
    done
    # What the installed scripts call for the values of some options, at each press of the tab key.
    command_row "$any_budget" ---completion token -- --session 3 0 authc token --session ''
    ratio 'authc prompt, beside reading the file in C' "$plain_budget" \
        "$world/c/start" "$starts" "$world/installed/usr/bin/authc" prompt -- "$world/c/prompt" "$prompt"
    ratio 'authc prompt --json, beside reading the file in C' "$any_budget" \
        "$world/c/start" "$starts" "$world/installed/usr/bin/authc" prompt --json -- "$world/c/prompt" "$prompt"
}

# other WHAT COMMAND…: `authc token`, or the command in `ours`, beside another program's command.
other() {
    local what=$1 ours=${ours-token}
    shift
    ratio "authc $ours beside $what" 1.0 \
        "$world/c/start" "$((starts / 3))" "$world/installed/usr/bin/authc" "$ours" -- "$(command -v "$1")" "${@:2}"
}

# other_texts PROGRAM: the same for its version and its help, if it has these options.
other_texts() {
    local ours
    for ours in --version --help; do
        if "$1" "$ours" >/dev/null 2>&1 </dev/null; then other "$1 $ours" "$1" "$ours"; fi
    done
}

# What start_oidc_agent needs, and its client.
readonly oidc_programs=(oidc-token oidc-agent oidc-gen glewlwyd sqlite3 openssl)

# gh auth status is not there: it asks GitHub, and fails without a network.
others() {
    section 'Commands beside the closest ones of other programs' 'authc|the other|authc, p99|the other, p99'
    if installed ssh-add ssh-agent ssh-keygen; then
        start_ssh_agent
        ours=list other 'ssh-add -l' ssh-add -l
        other 'ssh-add -l' ssh-add -l
    fi
    if installed gpg-connect-agent gpg-agent; then
        start_gpg_agent
        other 'gpg-connect-agent' gpg-connect-agent --no-autostart 'GETINFO version' /bye
        other_texts gpg-connect-agent
    fi
    if installed secret-tool; then
        printf secret | secret-tool store --label=bench program bench
        other 'secret-tool lookup' secret-tool lookup program bench
        other_texts secret-tool
    fi
    if installed gh; then
        GH_TOKEN=from-the-environment other 'gh auth token' gh auth token
        other_texts gh
    fi
    if installed "${oidc_programs[@]}"; then
        start_oidc_agent
        other 'oidc-token' oidc-token bench
        other_texts oidc-token
    fi
}

start_ssh_agent() {
    export SSH_AUTH_SOCK=$world/ssh-agent
    ssh-agent -D -a "$SSH_AUTH_SOCK" >/dev/null 2>&1 &
    started+=("$!")
    ssh-keygen -q -t ed25519 -N '' -f "$world/ssh-key"
    wait_until 5 'ssh-agent does not listen' test -S "$SSH_AUTH_SOCK"
    ssh-add -q "$world/ssh-key" 2>/dev/null || fail 'ssh-add does not add a key'
}

start_gpg_agent() {
    export GNUPGHOME=$world/gnupg
    mkdir -m 700 "$GNUPGHOME"
    gpg-agent --no-detach --daemon >/dev/null 2>&1 &
    started+=("$!")
    wait_until 5 'gpg-agent does not listen' test -S "$GNUPGHOME/S.gpg-agent"
}

# oidc-agent with a session at an OpenID provider of this machine, glewlwyd.
start_oidc_agent() {
    local issuer tokens
    start_glewlwyd
    issuer=$glewlwyd_url/api/oidc
    tokens=$(curl -sSf --noproxy '*' -d 'grant_type=password&client_id=bench&client_secret=bench-secret&scope=scope1' \
        -d 'username=ada&password=bench-password' "$issuer/token") || fail 'glewlwyd gives no token'
    # Its output names its socket.
    eval "$(oidc-agent 2>/dev/null)" >/dev/null
    # It runs in the background; stop it at the end.
    started+=("$OIDCD_PID")
    OIDC_ENCRYPTION_PW=bench OIDC_REFRESH_TOKEN=$(json refresh_token <<<"$tokens") oidc-gen bench --prompt=none --pw-env \
        --confirm-default -m --iss="$issuer/" --client-id=bench --client-secret=bench-secret --scope='openid scope1' --rt-env \
        --redirect-uri=http://localhost:8765 >"$world/log/oidc-gen" 2>&1 </dev/null || fail 'oidc-gen does not add a session'
}

# A fresh server with a user and a client; sets glewlwyd_url.
start_glewlwyd() {
    local port folder=$world/glewlwyd key
    read -r port _ < <(free_ports)
    glewlwyd_url=http://localhost:$port
    mkdir "$folder"
    sqlite3 "$folder/data" <"$(glewlwyd_files install/sqlite3)"
    sed -e "s|PORT|$port|" -e "s|FOLDER|$folder|" "$here/glewlwyd.conf" >"$folder/settings"
    glewlwyd -c "$folder/settings" >"$world/log/glewlwyd" 2>&1 &
    started+=("$!")
    wait_until 10 'glewlwyd does not answer' curl -sf --noproxy '*' -o /dev/null "$glewlwyd_url/config"
    glewlwyd_call auth/ '{"username":"admin","password":"password"}'
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/key" 2>/dev/null
    key=$(openssl pkey -in "$folder/key" -pubout | python3 -c '
import json, sys
print(json.dumps({"module": "oidc", "name": "oidc", "display_name": "OpenID", "parameters": {
    "iss": sys.argv[1] + "/api/oidc", "jwt-type": "ecdsa", "jwt-key-size": "256", "key": open(sys.argv[2]).read(),
    "cert": sys.stdin.read(), "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600,
    "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
    "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-id-token-enabled": True,
    "auth-type-none-enabled": False, "auth-type-password-enabled": True, "auth-type-client-enabled": False,
    "auth-type-device-enabled": False, "auth-type-refresh-enabled": True, "subject-type": "public", "jwks-show": True,
    "scope": [], "additional-parameters": [], "claims": [], "address-claim": {"type": "no"}, "name-claim": "on-demand",
    "email-claim": "on-demand", "scope-claim": "no"}}))' "$glewlwyd_url" "$folder/key")
    glewlwyd_call mod/plugin/ "$key"
    glewlwyd_call scope/ '{"name":"scope1","display_name":"one","description":"one","password_required":false,"password_max_age":0,"scheme":{}}'
    glewlwyd_call user/ '{"username":"ada","password":"bench-password","scope":["g_profile","scope1","openid"],"enabled":true}'
    glewlwyd_call client/ '{"client_id":"bench","name":"bench","confidential":true,"password":"bench-secret","client_secret":"bench-secret","redirect_uri":["http://localhost:8765"],"authorization_type":["code","refresh_token","password"],"token_endpoint_auth_method":["client_secret_basic","client_secret_post"],"scope":["scope1"],"enabled":true}'
}

glewlwyd_files() {
    local file
    for file in "/usr/share/dbconfig-common/data/glewlwyd/$1" "/usr/share/glewlwyd/$1"; do
        [[ ! -f $file ]] || { echo "$file"; return; }
    done
    fail "glewlwyd has no $1"
}

glewlwyd_call() {
    curl -sSf --noproxy '*' -o /dev/null -b "$world/glewlwyd/cookies" -c "$world/glewlwyd/cookies" \
        -H 'Content-Type: application/json' -d "$2" "$glewlwyd_url/api/$1" || fail "glewlwyd refuses $1"
}
