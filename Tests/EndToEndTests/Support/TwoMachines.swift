import Foundation
import TestSupport

/// A laptop, whose agent lends its browser, and a host without one: two real agents, each with its own folders and bus. A
/// notification server on the laptop's bus shows questions.
struct TwoMachines: Sendable {
    let laptop: Scene
    let host: Scene
    /// The laptop's extra socket.
    let socket: String
    private let desktop: Child
    private let openedLog: String

    /// - Parameters:
    ///   - rules: `[listener.extra]` of the laptop.
    ///   - profile: of the provider, on both machines.
    ///   - other: the laptop's, if it differs.
    static func play(
        rules: String = "sign_in_providers = [\"\(OAuthScene.provider)\"]", profile: String,
        laptop other: String? = nil,
        _ test: @escaping @Sendable (TwoMachines) async throws -> Void
    ) async throws {
        try await Scene.play { laptop in
            try await Scene.play { host in
                let machines = try await TwoMachines(laptop, host, rules)
                let result: Result<Void, any Error>
                do {
                    try await laptop.addProfile(other ?? profile)
                    try await host.addProfile(profile)
                    try await test(machines)
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                await machines.desktop.end(SIGKILL)
                try result.get()
            }
        }
    }

    private init(_ laptop: Scene, _ host: Scene, _ rules: String) async throws {
        (self.laptop, self.host) = (laptop, host)
        openedLog = laptop.desktop.folder.path + "/opened"
        let opener = try laptop.desktop.folder.write(
            "#!/bin/sh\necho \"$1\" >> '\(openedLog)'\n", to: "bin/xdg-open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener)
        desktop = try await Child(
            [
                "/usr/bin/python3", "-m", "dbusmock", "--session", "--template", "notification_daemon", "--parameters",
                #"{"capabilities": "actions body"}"#,
            ], environment: laptop.desktop.environment)
        let owned = try await laptop.desktop.run([
            "gdbus", "wait", "--session", "--timeout", "30", "org.freedesktop.Notifications",
        ])
        guard owned.status == 0 else { throw Failure("no notification server: \(desktop.err.text)") }
        let path = "\(laptop.desktop.folder.path)/bin:\(laptop.desktop.environment["PATH"] ?? "")"
        try await laptop.restart(with: ["PATH": path])
        socket = try await laptop.openExtra(rules)
    }

    /// Starts `authc login` on the host.
    func login(_ arguments: [String] = [], from place: String? = nil) async throws -> Child {
        try await Child(
            [Programs.authc, "login", OAuthScene.provider, "--from", place ?? socket] + arguments,
            environment: host.desktop.environment)
    }

    /// The text of the latest question, once it is shown with all of its buttons.
    /// - Parameter child: the program whose request it is about. If that ends, there will be no question.
    func question(_ number: Int = 1, for child: Child? = nil) async throws -> String {
        let isShown = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await desktop.out.wait(for: "\"refuse\"", times: number) }
            if let child {
                group.addTask {
                    await child.err.wait(for: nil)
                    return false
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        guard isShown else { throw Failure(desktop.out.text + (child?.err.text ?? "")) }
        return desktop.out.text.components(separatedBy: "Notify \"authd\"").last ?? ""
    }

    /// All that was shown.
    var shown: Gathered { desktop.out }

    /// The user's answer.
    func answer(_ button: String, to number: Int = 1) async throws {
        let sent = try await laptop.desktop.run([
            "gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path",
            "/org/freedesktop/Notifications", "--method", "org.freedesktop.DBus.Mock.EmitSignal",
            "org.freedesktop.Notifications", "ActionInvoked", "us", "[<uint32 \(number)>, <'\(button)'>]",
        ])
        guard sent.status == 0 else { throw Failure(sent.err) }
    }

    /// The addresses that the laptop's browser has opened, once there is one.
    func opened() async throws -> [String] {
        var lines: [String] = []
        let isThere = try await until {
            let text = (try? String(contentsOfFile: openedLog, encoding: .utf8)) ?? ""
            lines = text.hasSuffix("\n") ? text.split(separator: "\n").map(String.init) : []
            return !lines.isEmpty
        }
        guard isThere else { throw Failure("no address was opened") }
        return lines
    }

    var hasOpened: Bool { FileManager.default.fileExists(atPath: openedLog) }

    /// Allows the sign-in.
    /// - Returns: the address that the browser opens.
    func allow() async throws -> String {
        _ = try await question()
        try await answer("once")
        return try await opened()[0]
    }
}
