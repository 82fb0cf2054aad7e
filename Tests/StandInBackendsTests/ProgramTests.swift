import Foundation
import StandInBackends
import Testing

/// The program as a person or a script starts it.
@Suite("stand-in-backends")
struct ProgramTests {
    @Test("the port file appears whole when all listen, and is gone after SIGTERM")
    func portFile() async throws {
        let folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: URL(filePath: "/tmp"), create: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "ports").path
        let arrivals = try Arrivals(in: folder.path)
        let program = try Program(["--port-file", file, "--token-seconds", "30"])
        try arrivals.wait(for: "ports")
        let addresses = try JSONDecoder().decode(
            [String: String].self, from: try Data(contentsOf: URL(filePath: file)))
        #expect(Set(addresses.keys) == Set(Backend.allCases.map(\.rawValue) + ["control"]))
        for url in addresses.values { #expect(url.hasPrefix("http://127.0.0.1:")) }
        #expect(addresses["aws-lambda"]?.hasSuffix("/prod") == true)
        program.process.terminate()
        #expect(await program.ended() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("without a port file the addresses are printed, and the program ends with its input")
    func printed() async throws {
        let program = try Program(["--until-stdin-closes"])
        let lines = program.output.readLines(6)
        #expect(lines.contains { $0.hasPrefix("fork-in-the-road http://127.0.0.1:") })
        try program.input.close()
        #expect(await program.ended() == 0)
    }

    @Test("input that has ended before ends the program at once")
    func noInput() async throws {
        let program = try Program(["--until-stdin-closes"], input: FileHandle.nullDevice)
        #expect(await program.ended() == 0)
    }

    @Test("an address that is none is said to be so")
    func badHost() async throws {
        let program = try Program(["--host", "nowhere.example"])
        #expect(await program.ended() != 0)
        let text = String(decoding: program.errors.readDataToEndOfFile(), as: UTF8.self)
        #expect(text.contains("nowhere.example is not a numeric address"))
    }
}

/// A process of the test's own; it is ended with the test runner (prctl(2), PR_SET_PDEATHSIG).
private final class Program: Sendable {
    let process = Process()
    private let pipes = [Pipe(), Pipe(), Pipe()]
    private let exit: AsyncStream<Int32>

    /// - Parameter input: `nil` is a pipe.
    init(_ arguments: [String], input: FileHandle? = nil) throws {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        let folder = (bundle as NSString).deletingLastPathComponent
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["setpriv", "--pdeathsig", "KILL", "--", folder + "/stand-in-backends"] + arguments
        process.standardInput = input ?? pipes[0] as Any
        process.standardOutput = pipes[1]
        process.standardError = pipes[2]
        let (exit, ending) = AsyncStream.makeStream(of: Int32.self)
        self.exit = exit
        process.terminationHandler = { process in
            ending.yield(process.terminationStatus)
            ending.finish()
        }
        try process.run()
    }

    var input: FileHandle { pipes[0].fileHandleForWriting }
    var output: FileHandle { pipes[1].fileHandleForReading }
    var errors: FileHandle { pipes[2].fileHandleForReading }

    func ended() async -> Int32? {
        for await status in exit { return status }
        return nil
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}

extension FileHandle {
    fileprivate func readLines(_ count: Int) -> [String] {
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            let more = availableData
            guard !more.isEmpty else { break }
            text += more
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// Files that are renamed into a folder (inotify(7)).
private struct Arrivals {
    private let descriptor: Int32

    init(in folder: String) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO)) >= 0 else {
            throw Failure(description: "inotify: \(String(cString: strerror(errno)))")
        }
    }

    /// Blocks until a file of that name has arrived; only this one may.
    func wait(for name: String) throws {
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        let event = MemoryLayout<inotify_event>.size
        guard count > event else { throw Failure(description: "inotify: no event") }
        let arrived = String(decoding: buffer[event..<count].prefix { $0 != 0 }, as: UTF8.self)
        guard arrived == name else { throw Failure(description: "\(arrived) arrived instead of \(name)") }
    }
}
