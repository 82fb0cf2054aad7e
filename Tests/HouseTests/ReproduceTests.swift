import Testing

/// With a small program in place of the real ones, which take two release builds.
@Suite("make reproduce")
struct ReproduceTests {
    private let scene = PackageScene()

    /// Runs the script with a program whose source is this line of the shell's `echo`, in each of the two folders.
    private func reproduce(_ source: String) async throws -> PackageScene.Outcome {
        var outcome: PackageScene.Outcome?
        try await scene.withFolder { folder in
            outcome = try await scene.shell(
                """
                cat >"$1/swift" <<'END'
                #!/bin/bash
                mkdir -p .build/release
                echo \(source) | cc -x c - -pie -Wl,-z,now,-z,relro,--build-id=none -o ".build/release/${!#}"
                END
                chmod +x "$1/swift"
                Tests/reproduce "$1/swift" "$1/built" authc
                """, folder)
        }
        return try #require(outcome)
    }

    private static func program(with text: String) -> String {
        #""const char text[] = \"\#(text)\"; int main(int count, char **words) { return text[count]; }""#
    }

    @Test("two builds that are equal")
    func equal() async throws {
        let outcome = try await reproduce(#"'int main(void) { return 0; }'"#)
        #expect(outcome.isSuccess && outcome.out.contains("authc: equal, "), "\(outcome)")
    }

    @Test("two builds that differ, with the section where they do")
    func different() async throws {
        let outcome = try await reproduce(Self.program(with: "${PWD: -1}"))
        #expect(!outcome.isSuccess && outcome.err.contains("authc: in .rodata\n"), "\(outcome)")
        #expect(!outcome.err.contains("the name of its folder"), "\(outcome)")
    }

    @Test("a program that contains the name of its folder")
    func named() async throws {
        let outcome = try await reproduce(Self.program(with: "$PWD"))
        #expect(!outcome.isSuccess && outcome.err.contains("the name of its folder, first in: "), "\(outcome)")
    }
}
