import Foundation
import Synchronization
import TestSupport

/// A private message bus with services of python-dbusmock on it.
final class MockBus: Sendable {
    /// Available services: the template's name, and the name on the bus.
    enum Service: String, Sendable {
        case logind = "org.freedesktop.login1"
        case networkmanager = "org.freedesktop.NetworkManager"
        case notifications = "org.freedesktop.Notifications"
        case polkit = "org.freedesktop.PolicyKit1"

        var template: String {
            switch self {
            case .notifications: "notification_daemon"
            case .polkit: "polkitd"
            default: "\(self)"
            }
        }
        /// The bus that it belongs to on a desktop.
        var kind: String { self == .notifications ? "--session" : "--system" }
    }

    let address: String
    private let folder: TemporaryFolder
    private let bus: Child
    private let services: Mutex<[Child]>
    private let environment: [String: String]

    init(_ wanted: [Service]) async throws {
        folder = try TemporaryFolder()
        address = "unix:path=\(folder.path)/bus"
        let configuration = try folder.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """, to: "bus.conf")
        environment = [
            "DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address,
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "HOME": folder.path, "LANG": "C.UTF-8",
        ]
        bus = try await Child(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"],
            environment: environment)
        guard await bus.out.wait(for: "unix:path=") else { throw Failure("no bus: \(bus.err.text)") }
        var services: [Child] = []
        for service in wanted { services.append(try await Self.start(service, environment)) }
        self.services = Mutex(services)
        for service in wanted { try await wait(for: service) }
    }

    private static func start(_ service: Service, _ environment: [String: String]) async throws -> Child {
        let command = [NetworkLab.python, "-m", "dbusmock", service.kind, "--template", service.template]
        let parameters = service == .notifications ? ["--parameters", #"{"capabilities": "actions body"}"#] : []
        return try await Child(command + parameters, environment: environment)
    }

    private func wait(for service: Service) async throws {
        _ = try await run(["gdbus", "wait", service.kind, "--timeout", "20", service.rawValue])
    }

    /// Ends the notification server like a crash, and starts another one.
    func replaceNotifications() async throws {
        await services.withLock { $0[0] }.end(SIGKILL)
        let new = try await Self.start(.notifications, environment)
        services.withLock { $0[0] = new }
        try await wait(for: .notifications)
    }

    /// The calls to the services, one per line.
    var asked: Gathered { services.withLock { $0[0] }.out }

    func end() async {
        for service in services.withLock({ $0 }) {
            service.kill(SIGCONT)
            await service.end(SIGKILL)
        }
        await bus.end()
    }

    /// Like a hung service: it owns its name and does not reply.
    func stopAnswering() {
        for service in services.withLock({ $0 }) { service.kill(SIGSTOP) }
    }

    func setConnectivity(_ number: Int) async throws {
        try await call("NetworkManager", "/org/freedesktop/NetworkManager", ".Mock.SetConnectivity", "uint32 \(number)")
        if number == 4 {
            try await call(
                "NetworkManager", "/org/freedesktop/NetworkManager", ".Mock.SetGlobalConnectionState", "uint32 70")
        }
    }

    /// Its template has no such property.
    func addMetered(_ isMetered: Bool) async throws {
        try await call(
            "NetworkManager", "/org/freedesktop/NetworkManager", ".Mock.AddProperty", "org.freedesktop.NetworkManager",
            "Metered", "<uint32 \(isMetered ? 1 : 2)>")
    }

    func setMetered(_ isMetered: Bool) async throws {
        try await call(
            "NetworkManager", "/org/freedesktop/NetworkManager", ".Mock.UpdateProperties",
            "org.freedesktop.NetworkManager", "{'Metered': <uint32 \(isMetered ? 1 : 2)>}")
    }

    func emitSleep(_ isGoing: Bool) async throws {
        try await call(
            "login1", "/org/freedesktop/login1", ".Mock.EmitSignal", "org.freedesktop.login1.Manager",
            "PrepareForSleep", "b", "[<\(isGoing)>]")
    }

    func addLoginSession(_ name: String, of user: UInt32) async throws {
        try await call(
            "login1", "/org/freedesktop/login1", ".Mock.AddSession", name, "seat0", "uint32 \(user)", "user\(user)",
            "true")
    }

    /// Like a screen locker.
    func lockLoginSession(_ name: String) async throws {
        _ = try await run([
            "gdbus", "call", "--system", "--dest", "org.freedesktop.login1", "--object-path",
            "/org/freedesktop/login1/session/\(name)", "--method", "org.freedesktop.login1.Session.SetLockedHint",
            "true",
        ])
    }

    // MARK: polkit

    private static let authority = "/org/freedesktop/PolicyKit1/Authority"

    /// How many checks polkit was asked for before this.
    func checks() async throws -> Int {
        let mark = "mark-\(UUID().uuidString)"
        try await call("PolicyKit1", Self.authority, ".Mock.SimulateHangActions", "['\(mark)']")
        _ = await asked.wait(for: mark)
        return asked.text.components(separatedBy: " CheckAuthorization ").count - 1
    }

    /// Checks of these actions pass from now on; others are refused.
    func allow(_ actions: String...) async throws {
        let list = actions.map { "'\($0)'" }.joined(separator: ", ")
        try await call("PolicyKit1", Self.authority, ".Mock.SetAllowed", "@as [\(list)]")
    }

    /// Nobody answers checks from now on.
    func leaveChecksOpen() async throws {
        try await call("PolicyKit1", Self.authority, ".Mock.SimulateHang", "true")
        try await addToPolkit("CancelCheckAuthorization", "s", "", "")
    }

    /// As polkitd answers if no agent is registered.
    func removeAgents() async throws {
        try await addToPolkit("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", "ret = (False, True, {})")
    }

    private func addToPolkit(_ method: String, _ input: String, _ output: String, _ code: String) async throws {
        try await call(
            "PolicyKit1", Self.authority, ".Mock.AddMethod", "org.freedesktop.PolicyKit1.Authority", method, input,
            output, code)
    }

    /// Like a user who clicks a notification.
    func choose(notification number: Int, action: String = "default") async throws {
        try await emit("ActionInvoked", "us", "[<uint32 \(number)>, <'\(action)'>]")
    }

    /// Like a user who clicks it on GNOME, whose notifications close at a click. Both signals are sent before either is
    /// handled.
    func click(notification number: Int, action: String = "default") async throws {
        let name = "org.freedesktop.Notifications"
        let code = """
            self.EmitSignal('\(name)', 'ActionInvoked', 'us', [args[0], args[1]])
            self.EmitSignal('\(name)', 'NotificationClosed', 'uu', [args[0], dbus.UInt32(2)])
            """
        let mock = ["gdbus", "call", "--session", "--dest", name, "--object-path", "/org/freedesktop/Notifications"]
        _ = try await run(
            mock + ["--method", "org.freedesktop.DBus.Mock.AddMethod", "org.authd.Test", "Click", "us", "", code])
        _ = try await run(mock + ["--method", "org.authd.Test.Click", "\(number)", action])
    }

    /// Like a compositor that lets the next window have the focus.
    func giveActivation(_ token: String, notification number: Int) async throws {
        try await emit("ActivationToken", "us", "[<uint32 \(number)>, <'\(token)'>]")
    }

    /// The same signal as a click, from a program that shows no notifications.
    func pretendChoice(notification number: Int) async throws {
        _ = try await run([
            "gdbus", "emit", "--session", "--object-path", "/org/freedesktop/Notifications", "--signal",
            "org.freedesktop.Notifications.ActionInvoked", "uint32 \(number)", "'default'",
        ])
    }

    /// Like a user who closes it.
    func dismiss(notification number: Int) async throws {
        try await emit("NotificationClosed", "uu", "[<uint32 \(number)>, <uint32 2>]")
    }

    private func emit(_ signal: String, _ types: String, _ arguments: String) async throws {
        _ = try await run([
            "gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path",
            "/org/freedesktop/Notifications", "--method", "org.freedesktop.DBus.Mock.EmitSignal",
            "org.freedesktop.Notifications", signal, types, arguments,
        ])
    }

    /// Queries until the condition holds; each query is a round trip.
    func waitForInhibitor(_ wanted: Bool) async throws {
        for _ in 1...400 {
            let list = try await run([
                "gdbus", "call", "--system", "--dest", "org.freedesktop.login1", "--object-path",
                "/org/freedesktop/login1", "--method", "org.freedesktop.login1.Manager.ListInhibitors",
            ])
            if list.contains("'authd'") == wanted { return }
        }
        throw Failure("the lock is \(wanted ? "not taken" : "still held")")
    }

    private func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) async throws {
        _ = try await run(
            [
                "gdbus", "call", "--system", "--dest", "org.freedesktop.\(name)", "--object-path", path, "--method",
                "org.freedesktop.DBus\(method)",
            ] + arguments)
    }

    private func run(_ command: [String]) async throws -> String {
        let output = try await Child(command, environment: environment).output()
        guard output.status == 0 else { throw Failure("\(command): \(output.err)") }
        return output.out
    }
}
