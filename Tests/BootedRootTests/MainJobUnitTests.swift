import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("The main job in authd.service, with all of its limits", .serialized, .timeLimit(.minutes(5)))
struct MainJobUnitTests {
    private static let sessions = Backend.allCases.map(\.rawValue)

    /// The lines of the journal about a problem.
    private func warnings(_ machine: BootedMachine) async throws -> String {
        let found = try await machine.asRoot(
            "journalctl", "-q", "-o", "cat", "-p", "warning", "_SYSTEMD_USER_UNIT=authd.service")
        #expect(found.status == 0, "\(found)")
        return found.out
    }

    private func keyringItems(_ machine: BootedMachine) async throws -> [Substring] {
        // It fails if there are none.
        let found = try await machine.asPerson(["secret-tool", "search", "--all", "application", "authd"])
        return (found.out + found.err).split(separator: "\n").filter { $0.hasPrefix("label = ") }
    }

    /// The unit has no drop-in, and the kernel reports its filters.
    private func expectLimits(of machine: BootedMachine) async throws {
        #expect(try await machine.service("DropInPaths").isEmpty)
        let pid = try await machine.service("MainPID")
        let status = try await machine.asRoot("cat", "/proc/\(pid)/status").out
        for line in ["Name:\tauthd", "NoNewPrivs:\t1", "Seccomp:\t2", "Umask:\t0077"] {
            #expect(status.contains(line + "\n"), "\(line): \(status)")
        }
        #expect(try await machine.journal(until: "Landlock limits authd to its files") != nil)
    }

    @Test("signs in to all five, renews what can be renewed, and leaves nothing after sign-out; authd logs no warning")
    func allFive() async throws {
        try await BootedMachine.play { machine in
            await machine.backends.setTokenLifetime(.seconds(50), at: .appTemplate)
            for backend in Backend.allCases {
                let provider = backend.rawValue
                try await machine.signIn(to: backend)
                let first = try await machine.authc("token", "-s", provider)
                #expect(first.status == 0 && first.out.count > 20, "\(first)")
                let validated = try await machine.authc("validate", "-s", provider)
                #expect(validated.status == 0, "\(provider): \(validated)")
                let renewed = try await machine.authc("refresh", "-s", provider)
                #expect(renewed.status == (backend == .anonymousWall ? 64 : 0), "\(provider): \(renewed)")
                let next = try await machine.authc("token", "-s", provider)
                #expect(next.status == 0, "\(next)")
                if [.envelope, .forkInTheRoad, .appTemplate].contains(backend) { #expect(next.out != first.out) }
            }
            try await expectLimits(of: machine)
            #expect(try await keyringItems(machine).count == Self.sessions.count)
            #expect(try await machine.service("NFileDescriptorStore") != "0")

            let pid = try await machine.service("MainPID")
            for session in Self.sessions {
                let left = try await machine.authc("logout", "-s", session)
                #expect(left.status == 0, "\(session): \(left)")
                #expect(try await machine.authc("token", "-s", session).status == 64)
            }
            #expect(try await keyringItems(machine).isEmpty)
            #expect(try await machine.service("NFileDescriptorStore") == "0")
            // A refused call fails with EPERM and does not end authd. A failure that matters is logged.
            #expect(try await machine.service("MainPID") == pid)
            #expect(try await machine.service("NRestarts") == "0")
            #expect(try await warnings(machine) == "")
        }
    }
}
