import Foundation
import Subprocess
import Testing

/// The tests do not build release programs; `make build` fails if Tests/check-programs does, so that is tested.
@Suite("How release programs are linked")
struct ReleaseLinkingTests {
    private static let right = "-pie -Wl,-z,now,-z,relro"
    private static let runPath = "it has a run path, or writes to its code"

    @Test(
        "Tests/check-programs detects a program that is linked in another way",
        arguments: [
            (Self.right, nil), ("-static-pie -Wl,-z,now,-z,relro", nil),
            ("-no-pie -Wl,-z,now,-z,relro", "not position-independent"),
            ("-pie -Wl,-z,lazy,-z,relro", "symbols are resolved late (no -z now)"),
            ("-pie -Wl,-z,now,-z,norelro", "no part of it becomes read-only after the start (no -z relro)"),
            (Self.right + ",-rpath,$ORIGIN", Self.runPath),
            (Self.right + ",--disable-new-dtags,-rpath,/lib", Self.runPath),
        ] as [(String, String?)])
    func check(options: String, problem: String?) async throws {
        let program = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: program) }
        let script = """
            echo 'int main(void) { return 0; }' | gcc -x c -fPIE -o "$0" - $2 || exit 2
            exec "$1/Tests/check-programs" "$0"
            """
        let result = try await run(
            .name("bash"), arguments: ["-c", script, program, ProjectFiles.root.path, options],
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        #expect(result.terminationStatus == .exited(problem == nil ? 0 : 1))
        #expect(result.standardError == (problem.map { "\(program): \($0)\n" } ?? ""))
    }

    @Test(
        "make build runs this check for each program, links authc position-independent, and has authc-full write its texts"
    )
    func build() async throws {
        let result = try await run(
            .name("make"),
            arguments: ["--dry-run", "--directory", ProjectFiles.root.path, "build", "RELEASE=folder"],
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        let lines = result.standardOutput.split(separator: "\n").filter { !$0.hasPrefix("make") }
        #expect(lines.first?.hasPrefix("Sources/Packaging/linker/unretained ") == true)
        #expect(lines.last == "Tests/check-programs folder/authd folder/authc folder/authc-full folder/authd-gateway")
        let built = try #require(lines.firstIndex { $0.hasSuffix(" --product authc-full") })
        #expect(lines[built...].contains { $0.hasPrefix("folder/authc-full ---texts > folder/authc-texts.new && ") })
        for program in ["authd", "authc", "authc-full", "authd-gateway"] {
            let line = try #require(lines.first { $0.hasSuffix(" --product " + program) })
            #expect(line.contains(" -c release ") && line.contains(" --disable-local-rpath "))
        }
        let makefile = try #require(ProjectFiles.file("Makefile"))
        #expect(makefile.lines.contains("build: export AUTHC_PIE := 1"))
    }

    @Test("the copy of Swift's libraries lets the linker leave out functions, and keeps all else that is marked")
    func unretained() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = #"""
            mkdir -p "$0/lib/swift" "$0/lib/swift_static/linux" && cd "$0"
            cat >part.c <<'END'
            __attribute__((retain, used)) int unused(void) { return 1; }
            __attribute__((retain, used, section("records"))) int record = 2;
            int called(void) { return 3; }
            END
            gcc -c -ffunction-sections -o part.o part.c
            ar rc lib/swift_static/linux/libswiftPart.a part.o
            echo 'int called(void); int main(void) { return called(); }' | gcc -c -x c -o main.o -
            printf '#!/bin/sh\necho "{\\"paths\\": {\\"runtimeResourcePath\\": \\"%s/lib/swift\\"}}"\n' "$0" >swift
            chmod +x swift
            "$1/Sources/Packaging/linker/unretained" "$0/swift" "$0/copy"
            for libraries in lib/swift_static copy; do
                gcc -Wl,--gc-sections -o program main.o "$libraries/linux/libswiftPart.a"
                nm program | awk '$3 ~ /^(unused|record|called)$/ { print $3 }' | sort | tr '\n' ' '
            done
            """#
        let result = try await run(
            .name("bash"), arguments: ["-euc", script, folder, ProjectFiles.root.path],
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
        #expect(result.standardOutput == "called record unused called record ")
    }
}
