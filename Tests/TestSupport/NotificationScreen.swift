import Foundation

/// dunst, a notification server of desktops, on a virtual screen: what the user sees and does.
package final class NotificationScreen: Sendable {
    package let screen: VirtualScreen
    private let dunst: Child

    /// No notification disappears by itself.
    /// - Parameter choosing: the button that the user chooses in the menu of all buttons.
    package init(on desktop: Desktop, choosing button: String? = nil) async throws {
        screen = try await VirtualScreen(on: desktop)
        let menu = try desktop.folder.write("#!/bin/sh\nexec grep -m1 -F '\(button ?? "")'\n", to: "menu")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: menu)
        let urgencies = ["low", "normal", "critical"].map { "[urgency_\($0)]\ntimeout = 0\n" }
        let settings = try desktop.folder.write(
            "[global]\norigin = top-left\noffset = 0x0\nmouse_left_click = do_action\ndmenu = \(menu)\n"
                + urgencies.joined(),
            to: "dunstrc")
        dunst = try await Child(["dunst", "-conf", settings, "-print"], environment: screen.environment)
        let owned = try await desktop.run([
            "gdbus", "wait", "--session", "--timeout", "30", "org.freedesktop.Notifications",
        ])
        guard owned.status == 0 else { throw Failure("no notification server: \(dunst.err.text)") }
    }

    /// What dunst has shown so far.
    package var shown: Gathered { dunst.out }

    /// The number of notifications that it shows now.
    package func count() async throws -> Int? {
        let output = try await screen.run(["dunstctl", "count", "displayed"])
        return Int(output.out.trimmingPrefix { $0.isWhitespace }.prefix { !$0.isWhitespace })
    }

    /// Clicks on the notification.
    package func click() async throws {
        var window: String?
        guard
            try await until({
                window = try await screen.window("--class", "Dunst")
                return window != nil
            }), let window
        else { throw Failure("there is no notification: \(shown.text)") }
        let clicked = try await screen.run(["xdotool", "mousemove", "--window", window, "20", "20", "click", "1"])
        guard clicked.status == 0 else { throw Failure("no click: \(clicked.err)") }
    }

    package func end() async {
        await dunst.end()
        await screen.end()
    }
}
