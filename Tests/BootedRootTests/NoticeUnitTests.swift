import Foundation
import StandInBackends
import TestSupport
import Testing

/// The notification server is python-dbusmock's.
@Suite("Buttons of notifications, under a real user manager", .serialized, .timeLimit(.minutes(5)))
struct NoticeUnitTests {
    private static let mock = [
        "gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path",
        "/org/freedesktop/Notifications", "--method", "org.freedesktop.DBus.Mock.EmitSignal",
        "org.freedesktop.Notifications",
    ]

    @Test("a terminal is a unit without authd's confinement, with the manager's variables, and outlives authd")
    func unit() async throws {
        try await BootedMachine.play { machine in
            // Nothing renews this session.
            await machine.backends.setTokenLifetime(.seconds(3), at: .anonymousWall)
            try await machine.person(
                "systemd-run", "--user", "--quiet", "/usr/bin/python3", "-m", "dbusmock", "--session", "--template",
                "notification_daemon", "--parameters", #"{"capabilities": "actions"}"#)
            try await machine.person(
                "gdbus", "wait", "--session", "--timeout", "30", "org.freedesktop.Notifications")
            let report =
                "grep ^0:: /proc/self/cgroup; grep NoNewPrivs: /proc/self/status; "
                + "echo \"$DISPLAY $XDG_ACTIVATION_TOKEN\"; echo \"$*\""
            try await machine.write(
                "#!/bin/sh\n{ \(report); } > /people/ada/pipe\nread line < /people/ada/hold\n", to: "terminal")
            try await machine.person("chmod", "700", "/people/ada/terminal")
            try await machine.person("mkfifo", "/people/ada/pipe", "/people/ada/hold")
            let login = try await machine.authc(
                "login", "anonymous-wall", "--environment", "local", "--field", "email=ada@example.org",
                "--password-stdin", input: "Correct-horse1")
            try #require(login.status == 0, "\(login.err)")
            // After the start of authd, as when it starts at boot and the desktop comes later.
            try await machine.person(
                "systemctl", "--user", "set-environment", "DISPLAY=:7", "TERMINAL=/people/ada/terminal")
            let ended = try await machine.authc("wait", "--until", "signed_out", "--timeout", "60s")
            #expect(ended.status == 0, "\(ended.err)")
            async let seen = machine.asPerson(["timeout", "60", "cat", "/people/ada/pipe"])
            _ = try await machine.journal(until: "Notice: Sign in to anonymous-wall again")
            // authd asks the server for its capabilities first. A click before the notification is no click.
            let isOpened = try await until {
                _ = try await machine.asPerson(Self.mock + ["ActivationToken", "us", "[<uint32 1>, <'focus-7'>]"])
                _ = try await machine.asPerson(Self.mock + ["ActionInvoked", "us", "[<uint32 1>, <'sign-in'>]"])
                let units = try await machine.person("systemctl", "--user", "list-units", "--plain", "run-*.service")
                return units.contains("Opened from a notification of authd")
            }
            #expect(isOpened)
            let output = try await seen
            let lines = output.out.split(separator: "\n")
            try #require(output.status == 0 && lines.count == 4, "\(output)")
            #expect(lines[0].contains("/app.slice/") && !lines[0].contains("authd"), "\(lines[0])")
            #expect(lines[1].split(separator: "\t").last == "0", "\(lines[1])")
            #expect(lines[2] == ":7 focus-7", "\(lines[2])")
            #expect(lines[3].hasSuffix(" -- login anonymous-wall -s anonymous-wall"), "\(lines[3])")
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            let units = try await machine.person("systemctl", "--user", "list-units", "--plain", "run-*.service")
            #expect(units.contains("Opened from a notification of authd"), "\(units)")
            try await machine.person("sh", "-c", "echo > /people/ada/hold")
        }
    }
}
