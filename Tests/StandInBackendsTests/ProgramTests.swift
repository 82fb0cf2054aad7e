import Foundation
import StandInBackends
import TestSupport
import Testing

/// The program as a user or a script starts it.
@Suite("stand-in-backends")
struct ProgramTests {
    @Test("the port file appears whole when all listen, and is gone after SIGTERM")
    func portFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/ports"
        let arrivals = try Arrivals(in: folder.path)
        let program = try await standIns("--port-file", file, "--token-seconds", "30")
        try arrivals.wait(for: "ports")
        let addresses = try JSONDecoder().decode(
            [String: String].self, from: try Data(contentsOf: URL(filePath: file)))
        #expect(Set(addresses.keys) == Set(Backend.allCases.map(\.rawValue) + ["control"]))
        for url in addresses.values { #expect(url.hasPrefix("http://127.0.0.1:")) }
        #expect(addresses["aws-lambda"]?.hasSuffix("/prod") == true)
        #expect(await program.end() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("without a port file the addresses are printed, and the program ends with its input")
    func printed() async throws {
        let program = try await standIns("--until-stdin-closes", input: .held)
        #expect(await program.out.wait(for: "fork-in-the-road http://127.0.0.1:"))
        program.endInput()
        #expect(await program.ended() == 0)
    }

    @Test("closed input ends the program at once")
    func noInput() async throws {
        let ended = try await standIns("--until-stdin-closes")
        #expect(await ended.ended() == 0)
        let nothing = try await Child(
            ["bash", "-c", "exec \"$0\" --until-stdin-closes </dev/null", Programs.standIns], environment: [:])
        #expect(await nothing.ended() == 0)
    }

    @Test("an invalid address is reported")
    func badHost() async throws {
        let result = try await standIns("--host", "nowhere.example").output()
        #expect(result.status != 0)
        #expect(result.err.contains("nowhere.example is not a numeric address"))
    }
}

private func standIns(_ arguments: String..., input: Child.Input = .none) async throws -> Child {
    try await Child([Programs.standIns] + arguments, environment: [:], input: input)
}

/// Files that are renamed into a folder (inotify(7)).
private struct Arrivals {
    private let descriptor: Int32

    init(in folder: String) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO)) >= 0 else {
            throw Failure("inotify: \(String(cString: strerror(errno)))")
        }
    }

    /// Blocks until a file of that name has arrived; only this one may.
    func wait(for name: String) throws {
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        let event = MemoryLayout<inotify_event>.size
        guard count > event else { throw Failure("inotify: no event") }
        let arrived = String(decoding: buffer[event..<count].prefix { $0 != 0 }, as: UTF8.self)
        guard arrived == name else { throw Failure("\(arrived) arrived instead of \(name)") }
    }
}
