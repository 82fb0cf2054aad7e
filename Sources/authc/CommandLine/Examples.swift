/// The examples in the help of each command. A test has the parser accept every one.
enum Examples {
    /// What follows the help of a command; empty if it has none.
    static func text(of command: [String]) -> String {
        guard let lines = all[command.joined(separator: " ")] else { return "" }
        return "\nEXAMPLES:\n" + lines.map { "  " + $0 }.joined(separator: "\n")
    }

    /// By the words of the command.
    private static let all: [String: [String]] = [
        "": ["authc login", "curl -K <(authc helper curl https://api.example.org) $url"],
        "try": ["authc try", "NO_COLOR=1 authc try"],
        "login": [
            "authc login", "authc login https://mcp.example.org/mcp --device", "authc login work --from laptop",
        ],
        "register": [
            "authc register app-template",
            "authc register aws-lambda --field email=ada@example.org --password-stdin < FILE",
        ],
        "logout": ["authc logout -s work", "authc logout --all --yes"],
        "password": ["authc password change -s work", "authc password reset anonymous-wall"],
        "password set": ["authc password set", "authc password set -s wall --password-stdin < FILE"],
        "password change": [
            "authc password change -s work",
            "authc password change --secret-fd oldPassword=3 3< OLD --password-stdin < NEW",
        ],
        "password request-reset": [
            "authc password request-reset anonymous-wall",
            "authc password request-reset anonymous-wall --field email=ada@example.org",
        ],
        "password reset": [
            "authc password reset anonymous-wall",
            "authc password reset anonymous-wall --field code=012345 --password-stdin < NEW",
        ],
        "status": ["authc status -s work", "authc status --format '{{account}} {{left}}'"],
        "list": ["authc list", "authc list --json session,state", "authc list --format '{{name}} {{state}}'"],
        "use": ["authc use work", "authc use app-template --json"],
        "token": ["authc token -s work --min-valid 5m", "authc token --for https://api.example.org"],
        "exec": ["authc exec -s work -- ./deploy", "authc exec --env GH_TOKEN=access_token -- gh repo list"],
        "env": ["eval \"$(authc env -s work)\"", "authc env --shell fish --env TOKEN=access_token | source"],
        "mcp": [
            "authc mcp https://mcp.example.org/mcp", "authc mcp https://mcp.example.org/mcp -s work --timeout 5m",
        ],
        "proxy": ["authc proxy -s work", "authc proxy -s work --listen 127.0.0.1:0"],
        "http": [
            "authc http add reports -s work", "authc http serve --listen 127.0.0.1:0 --unix",
        ],
        "http serve": ["authc http serve", "authc http serve --listen 127.0.0.1:0 --unix"],
        "http add": [
            "authc http add reports -s work",
            "authc http add backup -s work --view aws --role arn:aws:iam::123456789012:role/reader",
        ],
        "http list": ["authc http list", "authc http list --json"],
        "http remove": ["authc http remove reports", "authc http remove reports --json"],
        "http env": ["eval \"$(authc http env reports)\"", "authc http env reports --shell fish | source"],
        "helper": [
            "authc helper install git --for https://git.example.org", "authc helper curl https://api.example.org",
        ],
        "helper git": [
            "authc helper install git --for https://git.example.org",
            "printf 'protocol=https\\nhost=git.example.org\\n' | authc helper git get",
        ],
        "helper docker": [
            "authc helper install docker --for https://registry.example.org",
            "echo https://registry.example.org | authc helper docker get",
        ],
        "helper kubernetes": [
            "authc helper kubernetes -s cluster", "authc helper kubernetes -s cluster --timeout 10s",
        ],
        "helper curl": [
            "curl -K <(authc helper curl https://api.example.org) https://api.example.org/me",
            "authc helper curl https://api.example.org -s work",
        ],
        "helper netrc": [
            "curl --netrc-file <(authc helper netrc https://api.example.org) https://api.example.org/me",
            "authc helper netrc https://api.example.org --user ada",
        ],
        "helper sasl": ["authc helper sasl -s mail", "authc helper sasl -s mail --mechanism oauthbearer"],
        "helper wget": [
            "authc helper wget https://files.example.org/one.tar -s work",
            "authc helper wget https://files.example.org/one.tar -- -O one.tar",
        ],
        "helper pip": ["authc helper install pip", "authc helper pip get https://pypi.example.org/simple"],
        "helper cargo": [
            "authc helper install cargo --for https://registry.example.org",
            "echo '{\"v\":1,\"kind\":\"get\"}' | authc helper cargo",
        ],
        "helper terraform": ["authc helper install terraform", "authc helper terraform get registry.example.org"],
        "helper ssh-cert": [
            "authc helper ssh-cert sign -s work --key ~/.ssh/id_work",
            "authc helper ssh-cert sign valid_principals=ada -s work --key ~/.ssh/id_work --json",
        ],
        "helper aws": [
            "authc helper aws -s work --role arn:aws:iam::123456789012:role/reader",
            "authc helper aws -s work --role arn:aws:iam::123456789012:role/reader --sts https://sts.eu-west-1.amazonaws.com",
        ],
        "helper install": [
            "authc helper install git --for https://git.example.org",
            "authc helper install docker --for https://registry.example.org --remove",
        ],
        "whoami": ["authc whoami -s work", "authc whoami --set name=Ada"],
        "refresh": ["authc refresh", "authc refresh -s work --json"],
        "validate": ["authc validate", "authc validate -s work --timeout 10s"],
        "watch": ["authc watch", "authc watch --json"],
        "wait": ["authc wait --until online --timeout 5m", "authc wait -s work && ./sync"],
        "prompt": ["authc prompt", "authc prompt --json"],
        "provider": ["authc provider list", "authc provider add github --client-id ID"],
        "provider list": ["authc provider list", "authc provider list --json"],
        "provider show": ["authc provider show app-template", "authc provider show app-template --endpoints"],
        "provider check": [
            "authc provider check shop.toml", "authc provider check shop.toml --against https://shop.example.org",
        ],
        "provider add": ["authc provider add --list", "authc provider add github --client-id ID"],
        "provider new": [
            "authc provider new shop --url https://shop.example.org -o shop.toml",
            "authc provider new shop --openapi openapi.json",
        ],
        "provider forget": ["authc provider forget shop", "authc provider forget shop --json"],
        "provider client-metadata": [
            "authc provider client-metadata https://example.org/authd.json",
            "authc provider client-metadata https://example.org/authd.json > authd.json",
        ],
        "network": ["authc network", "authc network --watch"],
        "doctor": ["authc doctor --fix", "authc doctor --report > report.txt"],
        "stats": ["authc stats", "authc stats --metrics prometheus --output authd.prom"],
        "log": ["authc log -n 5", "authc log --json"],
        "reload": ["authc reload", "authc reload --json"],
        "agent": ["authc agent restart", "authc agent restart --json"],
        "agent restart": ["authc agent restart", "authc agent restart --timeout 1m"],
        "version": ["authc version", "authc version --json"],
        "request": ["authc request GET '/users?limit=5' -s work", "authc request POST /users -d @user.json"],
        "call": ["authc call users limit=20 --all", "authc call update-profile name=Ada --queue"],
        "outbox": ["authc outbox list", "authc outbox flush"],
        "outbox list": ["authc outbox list", "authc outbox list -s work --json"],
        "outbox show": ["authc outbox show 12", "authc outbox show 12 --json"],
        "outbox flush": ["authc outbox flush", "authc outbox flush 12"],
        "outbox drop": ["authc outbox drop 12", "authc outbox drop --all -s work"],
        "lock": ["authc lock", "authc lock --set-passphrase"],
        "unlock": ["authc unlock", "authc unlock --presence"],
        "store": ["authc store unlock", "authc store migrate --to sealed-file"],
        "store unlock": ["authc store unlock", "authc store unlock --passphrase-stdin < FILE"],
        "store rekey": ["authc store rekey", "authc store rekey --key-file FILE"],
        "store migrate": ["authc store migrate --to sealed-file", "authc store migrate --to secret-service"],
        "cluster": ["authc cluster status", "authc cluster join"],
        "cluster status": ["authc cluster status", "authc cluster status --json"],
        "cluster join": ["authc cluster join", "authc cluster join --json"],
        "cluster admit": ["authc cluster admit 7QF2-M8XA-93PD", "authc cluster admit 7qf2m8xa93pd"],
        "cluster forget": ["authc cluster forget runner-12", "authc cluster forget runner-12 --json"],
        "export": ["authc export sessions.authd", "authc export - -s work -r age1example > work.age"],
        "import": ["authc import sessions.authd", "authc import work.age -i key.txt"],
        "trust": ["authc trust -s work", "authc trust -s work --yes"],
        "approve": ["authc approve", "authc approve --minutes 60"],
        "policy": ["authc policy show", "authc policy test --as-unit backup.service token.get"],
        "policy show": ["authc policy show", "authc policy show --json"],
        "policy test": [
            "authc policy test --as-unit backup.service token.get",
            "authc policy test -s work --as-executable /usr/bin/curl api.call --endpoint items.list",
        ],
        "policy replay": ["authc policy replay", "authc policy replay new-rules.toml"],
        "policy apply": ["authc policy apply", "authc policy apply --json"],
        "config": ["authc config edit", "authc config set log_level notice"],
        "config get": ["authc config get http.proxy", "authc config get hook --json"],
        "config set": [
            "authc config set log_level notice", "authc config set http.no_proxy localhost .example.org",
            "authc config set hook[0].command -- /usr/bin/logger -t authd",
        ],
        "config unset": ["authc config unset http.proxy", "authc config unset log_level --file authd.toml"],
        "config edit": ["authc config edit", "EDITOR=nano authc config edit"],
        "config path": ["authc config path", "authc config path --json"],
        "config list": ["authc config list", "authc config list --json"],
        "shell-init": ["eval \"$(authc shell-init bash)\"", "authc shell-init fish | source"],
        "completion": ["source <(authc completion bash)", "authc completion fish | source"],
        "terminal": ["authc terminal -- store unlock", "authc terminal --browser -- login work"],
        "redirect": ["authc redirect 'com.example.app:/callback?code=1'", "authc redirect < FILE"],
    ]
}
