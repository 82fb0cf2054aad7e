import Foundation
import Glibc

/// A program run to its end: what it printed and how it ended.
struct Program: Sendable {
    var output: String
    var errors: String
    var status: Int32
    var signal: Int32?

    /// `authc`, which the build leaves beside the tests' own bundle.
    static var authc: String {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("authc").path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            folder.deleteLastPathComponent()
        }
        return "authc"
    }

    /// An environment that says nothing of the person who runs the tests.
    static func environment(_ folder: String, _ more: [String: String] = [:]) -> [String: String] {
        ["XDG_RUNTIME_DIR": folder, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": folder]
            .merging(more) { $1 }
    }

    static func run(
        _ arguments: [String], folder: String, environment: [String: String] = [:], input: String = "",
        program: String = Program.authc
    ) async throws -> Program {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = Self.environment(folder, environment)
        let (inputPipe, outputPipe, errorPipe) = (Pipe(), Pipe(), Pipe())
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        async let output = outputPipe.fileHandleForReading.everything()
        async let errors = errorPipe.fileHandleForReading.everything()
        try await process.runToEnd {
            inputPipe.fileHandleForWriting.writeAndClose(input)
        }
        let ended = process.terminationReason == .uncaughtSignal
        return await Program(
            output: output, errors: errors, status: process.terminationStatus,
            signal: ended ? process.terminationStatus : nil)
    }
}

extension Process {
    func runToEnd(afterStart: () -> Void = {}) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in done.resume() }
            do {
                try run()
                afterStart()
            } catch {
                terminationHandler = nil
                done.resume(throwing: error)
            }
        }
    }
}

extension FileHandle {
    /// Read on a thread of its own: the pool's are for those who do not block.
    func everything() async -> String {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                done.resume(returning: String(decoding: self.readDataToEndOfFile(), as: UTF8.self))
            }
        }
    }

    /// The program may have gone without reading.
    func writeAndClose(_ text: String) {
        try? write(contentsOf: Data(text.utf8))
        try? close()
    }
}
