import Foundation
import Subprocess
import Synchronization
import TestSupport

/// A message bus and a gnome-keyring for one test, in a temporary folder.
///
/// A shell runs both as children and executes one command per line. It ends them and itself when its input ends, even if the
/// test process is killed. Needs dbus-daemon, gnome-keyring, libglib2.0-bin (gdbus), libsecret-tools.
actor PrivateKeyring {
    static let password = "open sesame"
    /// A limit that no test is meant to reach, however busy the machine is.
    static let timeout = Duration.seconds(60)

    nonisolated let address: String
    private let writer: StandardInputWriter
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator

    enum Trouble: Error {
        case noBus(String?)
        case refused(command: String, answer: String?)
    }

    private init(
        writer: StandardInputWriter, lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    ) async throws {
        self.writer = writer
        var lines = lines
        let first = try await lines.next()
        guard let first, first.hasPrefix("bus ") else { throw Trouble.noBus(first) }
        address = String(first.dropFirst("bus ".count))
        self.lines = lines
    }

    /// Runs `body` with a bus, and by default with a keyring service on it; ends both afterwards.
    ///
    /// - Parameter startsService: whether the bus starts a service (secret-service.py) on demand.
    static func with(
        daemon: Bool = true, startsService: Bool = false, _ body: sending (PrivateKeyring) async throws -> Void
    ) async throws {
        let outcome = try await run(
            .name("bash"),
            arguments: ["-c", script, KeyringServices.faulty, KeyringServices.kwallet, startsService ? "starts" : ""],
            input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            let writer = execution.standardInputWriter
            let keyring = try await PrivateKeyring(
                writer: writer, lines: execution.standardOutput.strings().makeAsyncIterator())
            do {
                if daemon { try await keyring.start() }
                try await body(keyring)
            } catch {
                try await writer.finish()
                throw error
            }
            try await writer.finish()
        }
        _ = outcome
    }

    /// Starts a service with an open keyring and the data of the former one.
    func start() async throws { try await send("start \(Self.password)") }
    /// Starts a service with a locked keyring, or without one if there was never an open one.
    func startLocked() async throws { try await send("start-locked") }
    /// Starts a service that misbehaves on command (secret-service.py), with the data of the former one.
    func startFaulty() async throws { try await send("start-moody") }
    /// Starts another one, which waits for the name until the current one has exited.
    func startMoodyBehind() async throws { try await send("start-behind") }
    /// Kills the previous one with SIGKILL.
    func killFormer() async throws { try await send("kill-former") }
    func become(_ mood: KeyringServices.Behaviour) async throws { try await send("become \(mood.rawValue)") }
    /// How often the misbehaving service has prompted.
    func prompts() async throws -> Int { Int(try await send("prompts").last ?? "") ?? 0 }

    /// Starts KWallet with a wallet that a login has opened, with the data of the former one.
    func startKWallet() async throws { try await send("start-kwallet") }
    func lockKWallet() async throws { try await send("lock-kwallet") }

    /// Stops the daemon with SIGSTOP.
    func freeze() async throws { try await send("freeze") }
    func thaw() async throws { try await send("thaw") }
    /// Ends the daemon with SIGKILL.
    func kill() async throws { try await send("kill") }
    /// Ends the bus with SIGKILL.
    func killBus() async throws { try await send("kill-bus") }
    /// Starts another bus at the same address.
    func startBus() async throws { try await send("start-bus") }
    /// The output of `secret-tool search --all` for authd's items.
    func search() async throws -> [String] { try await send("search") }
    /// Removes an item of authd like another program.
    func remove(session: String) async throws { try await send("remove \(session)") }
    /// Writes an item of authd with an invalid record.
    func damage(session: String) async throws { try await send("damage \(session)") }

    @discardableResult
    private func send(_ command: String) async throws -> [String] {
        _ = try await writer.write(Array((command + "\n").utf8))
        var printed: [String] = []
        var lines = lines
        defer { self.lines = lines }
        while let line = try await lines.next(isolation: self) {
            if line == "done" { return printed }
            if line == "failed" { break }
            printed.append(line)
        }
        throw Trouble.refused(command: command, answer: printed.last)
    }

    /// `setpriv --pdeathsig` ends the children if the shell is killed. The bus starts no services unless a test enables it. A
    /// service that it has started ends with it.
    private static let script = #"""
        # In memory, where fsync(2) costs nothing: a slow disk would be a slow keyring.
        folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
        export HOME=$folder/home XDG_RUNTIME_DIR=$folder/run XDG_DATA_HOME=$folder/home/.local/share
        mkdir -m 700 -p "$HOME" "$XDG_RUNTIME_DIR"
        unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
        cat > "$folder/bus.conf" <<END
        <busconfig><type>session</type><listen>unix:path=$folder/run/bus</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        <allow own="*"/></policy><servicedir>$folder/services</servicedir></busconfig>
        END
        mkdir "$folder/services"
        [ -z "$2" ] || cat > "$folder/services/org.freedesktop.secrets.service" <<END
        [D-BUS Service]
        Name=org.freedesktop.secrets
        Exec=/usr/bin/python3 $0 $folder/kept
        END
        leave() { trap - EXIT; kill -KILL $daemon $bus 2>/dev/null; wait; rm -rf "$folder"; exit; }
        trap leave EXIT TERM INT HUP
        mkfifo "$folder/address"
        start_bus() {
            setpriv --pdeathsig KILL \
                dbus-daemon --config-file="$folder/bus.conf" --nofork --print-address=1 > "$folder/address" &
            bus=$!
            read -r address < "$folder/address"
        }
        start_bus
        # Without its id: the next bus there has another one.
        export DBUS_SESSION_BUS_ADDRESS=${address%%,guid=*}
        echo "bus $DBUS_SESSION_BUS_ADDRESS"
        owned() { gdbus wait --session --timeout 20 org.freedesktop.secrets; }
        start() {
            setpriv --pdeathsig KILL gnome-keyring-daemon --foreground --components=secrets "$@" \
                > "$folder/log" < <(printf %s "$password") &
            daemon=$!
            owned
        }
        start_moody() {
            setpriv --pdeathsig KILL /usr/bin/python3 "$0" "$folder/kept" 2> "$folder/log" &
            daemon=$!
            owned
        }
        queue() {
            gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                --method org.freedesktop.DBus.ListQueuedOwners org.freedesktop.secrets
        }
        ask() {
            gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
                --method "$1" ${2+"$2"}
        }
        start_kwallet() {
            mkfifo "$folder/wallet"
            setpriv --pdeathsig KILL "$1" > "$folder/wallet" 2> "$folder/log" &
            daemon=$!
            read -r ready < "$folder/wallet" && rm "$folder/wallet" && [ "$ready" = ready ]
        }
        while read -r word password; do
            case $word in
            start) start --unlock ;;
            start-locked) start ;;
            start-moody) start_moody ;;
            start-behind) former=$daemon; start_moody; until [[ $(queue) == *,*:* ]]; do kill -0 $daemon || break; done ;;
            kill-former) kill -KILL $former; wait $former; true ;;
            become) ask authd.Test.Become "$password" >&2 ;;
            prompts) ask authd.Test.Prompts | tr -dc '0-9\n' ;;
            start-kwallet) start_kwallet "$1" ;;
            lock-kwallet) ask org.freedesktop.Secret.Service.Lock \
                "['/org/freedesktop/secrets/collection/kdewallet']" >&2 ;;
            freeze) kill -STOP $daemon ;;
            thaw) kill -CONT $daemon ;;
            kill) kill -KILL $daemon; wait $daemon; true ;;
            kill-bus) kill -KILL $bus; wait $bus; true ;;
            start-bus) rm -f "$folder/run/bus"; start_bus ;;
            search) secret-tool search --all application authd 2>&1 ;;
            remove) secret-tool clear application authd session "$password" ;;
            damage) printf '{"format":1,"access_token":"tell-nobody"' | secret-tool store --label=damaged \
                application authd session "$password" provider p xdg:schema authd.Session ;;
            *) false ;;
            esac && echo done || echo failed
        done
        """#
}
