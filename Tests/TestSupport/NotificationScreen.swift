import Foundation

/// A virtual screen with a notification server of a Linux desktop, and the user who clicks there.
package final class NotificationScreen: Sendable {
    package enum Server: String, CaseIterable, Sendable {
        case dunst
        case xfce
        /// notification-daemon, of GNOME Flashback and others.
        case gnome

        /// Debian's file names have the machine's triplet in them.
        fileprivate func command(_ folder: String) throws -> [String] {
            switch self {
            case .dunst: ["dunst", "-conf", folder + "/dunstrc"]
            case .xfce: [try Self.program("xfce4/notifyd/xfce4-notifyd")]
            case .gnome: ["/usr/lib/notification-daemon/notification-daemon"]
            }
        }

        fileprivate static func program(_ path: String) throws -> String {
            let folders =
                ["/usr/lib"]
                + ((try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? [])
                .filter { $0.hasSuffix("-linux-gnu") }.map { "/usr/lib/" + $0 }
            let found = folders.map { $0 + "/" + path }.first { FileManager.default.isExecutableFile(atPath: $0) }
            guard let found else { throw Failure("there is no \(path)") }
            return found
        }

        fileprivate var window: String {
            switch self {
            case .dunst: "^Dunst$"
            case .xfce: "^xfce4-notifyd$"
            case .gnome: "^Notification$"
            }
        }

        /// From the right lower corner of its window, and the number of the mouse's button. dunst shows no buttons: its middle
        /// button on the notification is the click on the whole of it.
        fileprivate var target: (right: Int, bottom: Int, button: String) {
            switch self {
            case .dunst: (60, 30, "2")
            case .xfce: (45, 22, "1")
            case .gnome: (60, 30, "1")
            }
        }
    }

    package let display: String
    private let server: Server
    private let desktop: Desktop
    private let screen: Child
    private let programs: [Child]

    package init(_ server: Server, on desktop: Desktop) async throws {
        (self.server, self.desktop) = (server, desktop)
        screen = try await Child(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
            environment: desktop.environment)
        guard await screen.out.wait(for: "\n") else { throw Failure("no screen: \(await screen.err.all())") }
        display = ":" + screen.out.text.trimmingCharacters(in: .whitespacesAndNewlines)
        // Nothing is closed before a slow machine has clicked on it.
        _ = try desktop.folder.write("[global]\n[urgency_normal]\n    timeout = 0\n", to: "dunstrc")
        // Without the bus of accessibility, which would be started beside this one.
        let environment = desktop.environment.merging(["DISPLAY": display, "NO_AT_BRIDGE": "1"]) { $1 }
        var programs: [Child] = []
        if server == .xfce {
            programs.append(try await Child([Server.program("xfce4/xfconf/xfconfd")], environment: environment))
            try await Self.wait(for: "org.xfce.Xfconf", on: desktop)
        }
        programs.append(try await Child(server.command(desktop.folder.path), environment: environment))
        self.programs = programs
        try await Self.wait(for: "org.freedesktop.Notifications", on: desktop)
    }

    private static func wait(for name: String, on desktop: Desktop) async throws {
        let named = try await desktop.run(["gdbus", "wait", "--session", "--timeout", "30", name])
        guard named.status == 0 else { throw Failure("no \(name): \(named.err)") }
    }

    package func end() async {
        for program in programs.reversed() { await program.end(SIGKILL) }
        await screen.end()
    }

    /// Clicks the notification's button, once it is shown. The server then closes the notification.
    package func clickNotification() async throws {
        let hasAppeared = try await until(2000) { try await window(server.window) != nil }
        guard hasAppeared else { throw Failure("no notification is shown") }
        let isClosed = try await until(200) {
            guard let window = try await window(server.window) else { return true }
            try await click(window)
            return false
        }
        guard isClosed else { throw Failure("the notification stays") }
    }

    private func click(_ window: String) async throws {
        let geometry = try await run(["getwindowgeometry", "--shell", window])
        let values = geometry.split(separator: "\n").reduce(into: [Substring: Int]()) { values, line in
            let parts = line.split(separator: "=")
            if parts.count == 2 { values[parts[0]] = Int(parts[1]) }
        }
        // It may be gone by now.
        guard let x = values["X"], let y = values["Y"], let width = values["WIDTH"], let height = values["HEIGHT"]
        else { return }
        let target = server.target
        _ = try await run([
            "mousemove", "\(x + width - target.right)", "\(y + height - target.bottom)", "click", target.button,
        ])
    }

    /// Types into a window, once it is there. Without a window manager the keyboard is that of the window below the pointer.
    package func type(_ lines: [String], into name: String) async throws {
        guard try await until(2000, { try await window(name) != nil }), let window = try await window(name) else {
            throw Failure("there is no window \(name)")
        }
        _ = try await run(["mousemove", "--window", window, "20", "20"])
        for line in lines { _ = try await run(["type", "--delay", "20", line + "\n"]) }
    }

    package func hasWindow(_ name: String) async throws -> Bool { try await window(name) != nil }

    private func window(_ name: String) async throws -> String? {
        try await run(["search", "--onlyvisible", "--name", name]).split(separator: "\n").first.map(String.init)
    }

    private func run(_ arguments: [String]) async throws -> String {
        try await desktop.run(["xdotool"] + arguments, with: ["DISPLAY": display]).out
    }
}
