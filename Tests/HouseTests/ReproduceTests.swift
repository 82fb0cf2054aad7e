import Testing

/// With a small program in place of the real ones, which take two release builds, and an empty runtime.
@Suite("make reproduce")
struct ReproduceTests {
    private let scene = PackageScene()

    /// The beginning of a script that stands in for `swift`, in the folder of the shell's `$1`: where its runtime is.
    private static let runtime = #"""
        mkdir -p "$1/lib/swift_static/linux"
        cat >"$1/swift" <<'END'
        #!/bin/bash
        if [ "$1" = -print-target-info ]; then
            echo "{\"paths\": {\"runtimeResourcePath\": \"${0%/*}/lib/swift\"}}"
            exit
        fi
        """#

    /// Runs the script with a program whose source is this line of the shell's `echo`, in each of the two folders.
    private func reproduce(_ source: String) async throws -> PackageScene.Outcome {
        var outcome: PackageScene.Outcome?
        try await scene.withFolder { folder in
            outcome = try await scene.shell(
                """
                \(Self.runtime)
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

    /// Runs the script for all packages.
    /// - Parameter text: in the shell's double quotes, what each program prints.
    private func reproducePackages(printing text: String) async throws -> PackageScene.Outcome {
        var outcome: PackageScene.Outcome?
        try await scene.withFolder { folder in
            outcome = try await scene.shell(
                """
                \(Self.runtime)
                product=${!#} release=.build/release
                mkdir -p "$release/$product.product" .build/AuthClient.build .build/checkouts
                object=$PWD/.build/AuthClient.build/file.o
                echo "$object" >"$release/$product.product/Objects.LinkFileList"
                if [ "$product" = authclient ]; then
                    echo 'int authclient_say(void) { return 0; }' | cc -x c -fPIC -c -o "$object" -
                    cc -shared -Wl,-soname,libauthclient.so.0 -o "$release/libauthclient.so" "$object"
                else
                    printf 'int puts(const char *); int main(void) { return puts("%s") < 0; }' "\(text)" |
                        cc -x c - -pie -Wl,-z,now,-z,relro,--build-id=none -o "$release/$product"
                fi
                END
                chmod +x "$1/swift"
                COMPRESSION=-Znone Tests/reproduce "$1/swift" "$1/built"
                """, folder)
        }
        return try #require(outcome)
    }

    @Test("all packages, if no program is named, and how long that took")
    func packages() async throws {
        let outcome = try await reproducePackages(printing: "complete")
        #expect(outcome.isSuccess, "\(outcome)")
        for name in ["authd", "authc", "authc-full", "authd-gateway"] {
            #expect(outcome.out.contains("\n\(name): equal, "), "\(outcome)")
        }
        #expect(outcome.out.matches(of: #/\n[a-z0-9-]+_[^ \n]+\.deb: equal, /#).count == 4, "\(outcome)")
        #expect(outcome.out.contains(#/\nThe two builds and the comparison took \d+ min \d+ s\.\n$/#), "\(outcome)")
    }

    @Test("a package that differs, with the files that do")
    func differentPackages() async throws {
        let outcome = try await reproducePackages(printing: "${PWD##*/}")
        #expect(!outcome.isSuccess && outcome.err.contains(".deb: the packages differ\n"), "\(outcome)")
        #expect(outcome.err.contains("/usr/share/bash-completion/completions/authc "), "\(outcome)")
        #expect(outcome.out.contains("\npython3-authd-client_"), "\(outcome)")
    }

    @Test("a program that contains the name of its folder")
    func named() async throws {
        let outcome = try await reproduce(Self.program(with: "$PWD"))
        #expect(!outcome.isSuccess && outcome.err.contains("the name of its folder, first in: "), "\(outcome)")
    }
}
