import Foundation
import Subprocess
import Testing

@Suite("Clients link the standard library and libc only")
struct LinkingTests {
    @Test("authc and the full program need no shared library", arguments: ["authc", "authc-full"])
    func authcIsStatic(program: String) async throws {
        #expect(try await neededLibraries(program) == [])
    }

    /// authc is too, in `make build`: see Tests/check-programs.
    @Test("authd is position-independent, and binds all symbols at start")
    func hardened() async throws {
        try await expectHardened("authd")
    }

    @Test("the gateway is, too")
    func hardenedGateway() async throws {
        try await expectHardened("authd-gateway")
    }

    private func expectHardened(_ program: String) async throws {
        let output = try await ask("readelf --file-header --dynamic --program-headers --wide", of: program)
        #expect(output.contains(/Type:\s+DYN/), "\(output)")
        #expect(output.contains("BIND_NOW") && output.contains("GNU_RELRO"))
        #expect(!output.contains("TEXTREL"))
    }

    /// With the tables for languages (ICU) it takes some 40 MB of a release program.
    @Test("no program of the product needs the whole of Foundation", arguments: ["authd", "authd-gateway"])
    func withoutFoundation(program: String) async throws {
        let libraries = try await neededLibraries(program)
        #expect(libraries.contains("libFoundationEssentials.so"))
        for library in libraries {
            #expect(library != "libFoundation.so" && !library.contains("ICU"), "\(program) needs \(library)")
            #expect(!library.contains("Internationalization"), "\(program) needs \(library)")
        }
    }

    @Test("authc contains nothing of NIO")
    func authcHasNoNIO() async throws {
        // If the names were stripped, their absence would prove nothing.
        #expect(try await symbols(of: ["AuthWire"], in: "authc-full") > 0)
        #expect(try await symbols(of: Self.nio, in: "authc-full") == 0)
    }

    /// FoundationEssentials alone adds 5.8 MB (Docs/decisions/size.md).
    @Test("authc-full contains nothing of Foundation, regular expressions, concurrency, or swift-argument-parser")
    func authcHasNoFoundation() async throws {
        let modules = ["ArgumentParser", "FoundationEssentials", "_Concurrency", "_StringProcessing"]
        #expect(try await symbols(of: ["CommandArguments"], in: "authc-full") > 0)
        #expect(try await symbols(of: modules, in: "authc-full") == 0)
        #expect(try await symbols(of: ["FoundationEssentials"], in: "authd") > 0)
    }

    @Test("a program that imports only AuthClient needs Swift's standard library and libc")
    func clientNeedsOnlyTheStandardLibrary() async throws {
        let allowed = try Regex(
            "libswift(?:Core|Glibc|Synchronization|_Concurrency|_StringProcessing|_RegexParser|SwiftOnoneSupport)\\.so"
                + "|lib(?:c|m|gcc_s|stdc\\+\\+)\\.so\\.[0-9]+|ld-linux.*")
        let libraries = try await neededLibraries("example-client")
        #expect(libraries.contains("libswiftCore.so"))
        for library in libraries {
            #expect(library.wholeMatch(of: allowed) != nil, "the example links \(library)")
        }
    }

    @Test("a program that imports only AuthClient contains nothing of NIO")
    func clientHasNoNIO() async throws {
        #expect(try await symbols(of: ["AuthClient"], in: "example-client") > 0)
        #expect(try await symbols(of: Self.nio, in: "example-client") == 0)
    }

    /// Release programs do not have them (Sources/Packaging/linker/without-character-names.ld).
    @Test("no file reads the Unicode name of a character")
    func withoutCharacterNames() {
        let name = "properties" + ".name"
        for file in ProjectFiles.swiftFiles() {
            #expect(!file.text.contains(name), "\(file.path) reads the name of a character")
        }
    }

    @Test("authc contains nothing of Swift's runtime")
    func authcHasNoRuntime() async throws {
        // The marker of Swift's own symbols, and a function that every other Swift program has.
        #expect(try await symbols(of: ["QuickCommands"], in: "authc") > 0)
        #expect(try await count("swift_getTypeByMangledName", in: "authc") == 0)
        #expect(try await count("swift_getTypeByMangledName", in: "authc-full") > 0)
    }

    @Test("authd contains NIO, so these tests can detect it")
    func daemonHasNIO() async throws {
        #expect(try await symbols(of: Self.nio, in: "authd") > 0)
    }

    private static let nio = ["NIOCore", "NIOPosix"]

    private func neededLibraries(_ program: String) async throws -> [String] {
        let output = try await ask("readelf --dynamic --wide", of: program)
        return output.matches(of: /\(NEEDED\).*\[(.+)\]/).map { String($0.1) }
    }

    /// The number of symbols of those modules in a program: `$s`, then length and name of the module (Swift's mangling).
    private func symbols(of modules: [String], in program: String) async throws -> Int {
        try await count(modules.map { "\($0.utf8.count)\($0)" }.joined(separator: "|"), in: program)
    }

    private func count(_ names: String, in program: String) async throws -> Int {
        let filter = "awk '/\(names)/ { n++ } END { print n + 0 }'"
        let count = try await ask("nm --no-demangle", of: program, filter: filter)
        return try #require(Int(count.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// The output of a tool for a built program.
    private func ask(_ tool: String, of program: String, filter: String = "cat") async throws -> String {
        let file = try ProjectFiles.built().appending(path: program).path
        try #require(FileManager.default.isExecutableFile(atPath: file), "\(program) has not been built")
        let result = try await run(
            .name("bash"), arguments: ["-c", "set -o pipefail; \(tool) \"$0\" | \(filter)", file],
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 16))
        try #require(result.terminationStatus.isSuccess, "\(tool): \(result.standardError)")
        return result.standardOutput
    }
}
