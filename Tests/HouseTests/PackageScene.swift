import Foundation
import Subprocess
import Testing

/// Scripts in the project's folder, with a folder of the test's own as `$1`.
struct PackageScene {
    struct Outcome {
        let isSuccess: Bool
        let out: String
        let err: String
    }

    func shell(_ script: String, _ arguments: String...) async throws -> Outcome {
        let result = try await run(
            .name("bash"),
            arguments: Arguments(
                ["-c", "set -euo pipefail; cd \"$0\"; " + script, ProjectFiles.root.path] + arguments),
            output: .string(limit: 1 << 22), error: .string(limit: 1 << 20))
        return Outcome(
            isSuccess: result.terminationStatus.isSuccess, out: result.standardOutput, err: result.standardError)
    }

    /// Appends a line to the record that `make check-packages` writes.
    func record(linter: String, _ result: String) throws {
        guard let path = ProcessInfo.processInfo.environment["PACKAGE_RECORD"] else { return }
        let file = try #require(FileHandle(forWritingAtPath: path), "\(path)")
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data("linter \(linter)\t\(result)\n".utf8))
    }

    func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    /// `programs` in the folder: small stand-ins for the programs and the library. What is linked into them, for their
    /// licences, is what the real ones have.
    func makePrograms(in folder: String) async throws {
        let made = try await shell(
            """
            programs=$2/programs
            mkdir "$programs"
            for product in authd authc authc-full authd-gateway authclient; do
                ln -s "$1/$product.product" "$programs/"
                linking=
                if [[ $product == authc* ]]; then linking=-static; fi
                echo 'int puts(const char *); int main(void) { return puts("complete") < 0; }' |
                    cc -x c $linking -o "$programs/$product" -
            done
            echo 'int puts(const char *); int authclient_say(void) { return puts("yes"); }' >"$programs/library.c"
            cc -shared -fPIC -Wl,-soname,libauthclient.so.0 -o "$programs/libauthclient.so" "$programs/library.c"
            cc -c -o "$programs/library.o" "$programs/library.c"
            ar rcsD "$programs/libauthclient.a" "$programs/library.o"
            """, try ProjectFiles.built().path, folder)
        try #require(made.isSuccess, "\(made.err)")
    }
}
