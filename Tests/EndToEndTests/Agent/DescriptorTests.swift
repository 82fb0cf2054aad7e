import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("An agent whose clients want all of its descriptors", .serialized, .timeLimit(.minutes(3)))
struct DescriptorTests {
    @Test("reserves some: clients are refused, and a provider can still be reached")
    func reserve() async throws {
        try await Scene.play(keyring: false) { scene in
            // Fewer than one process may have connections.
            try await scene.restart(["--store", "memory"], through: ["prlimit", "--nofile=256:256", "--"])
            let socket = scene.desktop.folder.path + "/run/authd/socket"
            let provider = Backend.appTemplate.rawValue
            try await onThread {
                let first = try RawClient(socket, timeout: 60)
                _ = try first.ask("agent.ping")
                var clients: [RawClient] = []
                var refused: JSON?
                while refused == nil, clients.count < 256 {
                    let client = try RawClient(socket, timeout: 60)
                    let answer = try client.ask("agent.ping")
                    if answer["result"] == nil { refused = answer }
                    clients.append(client)
                }
                #expect(refused?.errorKind == "busy")
                // One unit gets half of what the descriptors allow.
                #expect(clients.count > 48)
                let step = try first.ask(
                    "login.start",
                    [
                        "provider": .string(provider), "environment": "local",
                        "fields": ["email": "ada@example.org", "password": "Correct-horse1"],
                    ])
                #expect(step["result"]?["kind"] == "done", "\(step.text())")
            }
        }
    }
}

/// `Tests/run-suites` leaves suites of this name out unless it runs as root: only root sees the descriptors of an agent.
@Suite("An agent that is started with different descriptors than usual (as root)", .timeLimit(.minutes(1)))
struct StandardDescriptorRootTests {
    @Test(
        "has /dev/null for each that is missing: no socket or lock gets its number, to be written to as if it were the log"
    )
    func closed() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(
                ["--store", "memory"], through: ["bash", "-c", "exec \"$@\" <&- >&- 2>&-", "bash"])
            let folder = "/proc/\(try scene.agent.child.pid)/fd/"
            for number in 0...2 {
                let link = folder + "\(number)"
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/null")
            }
        }
    }

    @Test("closes what its parent left open")
    func inherited() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(
                ["--store", "memory"], through: ["bash", "-c", "exec 9</etc/passwd; exec \"$@\"", "bash"])
            let folder = "/proc/\(try scene.agent.child.pid)/fd"
            let open = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0)
            }
            #expect(!open.isEmpty && !open.contains("/etc/passwd"), "\(open)")
        }
    }
}
