import Foundation
import Testing

/// With stand-ins for lintian, mmdebstrap and the tests, which take minutes.
@Suite("The page of make check-packages")
struct PackageRecordTests {
    private let scene = PackageScene()

    /// Runs the script on one small package.
    /// - Parameters:
    ///   - lintian, tests: exit statuses.
    /// - Returns: how it ended, and the page.
    private func check(lintian: Int = 0, tests: Int = 0) async throws -> (outcome: PackageScene.Outcome, page: String) {
        var result: (outcome: PackageScene.Outcome, page: String)?
        try await scene.withFolder { folder in
            let outcome = try await scene.shell(
                """
                mkdir -p "$1/bin" "$1/tree/DEBIAN" "$1/packages" "$1/programs"
                printf '%s\\n' 'Package: small' 'Version: 1.2' 'Architecture: all' 'Depends: one | other, more' \\
                    'Maintainer: A <a@example.org>' 'Description: small' >"$1/tree/DEBIAN/control"
                dpkg-deb --root-owner-group --build "$1/tree" "$1/packages" >/dev/null
                cat >"$1/bin/lintian" <<'END'
                #!/bin/sh
                echo 'W: small: a-tag'
                exit \(lintian)
                END
                cat >"$1/bin/mmdebstrap" <<'END'
                #!/bin/bash
                mkdir -p "${@: -2:1}/etc"
                echo 12.99 >"${@: -2:1}/etc/debian_version"
                END
                cat >"$1/bin/swift" <<'END'
                #!/bin/bash
                [ "$1" = test ] || exit 0
                [ -d "$PACKAGE_ROOT/etc" ] && [ -d "$PACKAGED_PROGRAMS" ] || exit 9
                printf 'installed\\tsmall 1.2: installed\\nlinter rpmlint\\t0 errors\\n' >>"$PACKAGE_RECORD"
                echo '✔ Test "one thing" passed after 1.250 seconds.'
                echo '✘ Test "another" with 2 test cases failed after 0.500 seconds with 1 issue.'
                echo '✔ Suite "a suite" passed after 2.000 seconds.'
                echo '✔ Test run with 2 tests in 1 suite passed after 2.000 seconds.'
                exit \(tests)
                END
                chmod +x "$1"/bin/*
                PATH="$1/bin:$PATH" Tests/check-packages swift "$1/programs" "$1/packages" "$1/root" "$1/page.md"
                """, folder)
            result = (outcome, (try? String(contentsOfFile: folder + "/page.md", encoding: .utf8)) ?? "")
        }
        return try #require(result)
    }

    @Test("has the date, the versions, what dpkg and the linters said, and each test with its time")
    func page() async throws {
        let (outcome, page) = try await check()
        #expect(outcome.isSuccess, "\(outcome)")
        let day = String(ISO8601DateFormatter().string(from: Date()).prefix { $0 != "T" })
        for line in [
            "Checked on \(day): ", "Every check passed.\n", "\n- small 1.2, 0 kB. It depends on: one | other, more.\n",
            "\nErrors: 0, warnings: 1.\n\n    W: small: a-tag\n", "\nDebian 12.99, systemd ",
            "\n| installed | small 1.2: installed |\n", "\n| rpmlint | 0 errors |\n",
            "\n| one thing | passed | 1.250 |\n| another with 2 test cases | failed | 0.500 |\n",
        ] { #expect(page.contains(line), "\(line): \(page)") }
        #expect(!page.contains("Test run") && !page.contains("a suite"))
        // The page in the repository is one of these.
        let written = try #require(ProjectFiles.file("Docs/package-check.md")).text
        #expect(written.hasPrefix(page.components(separatedBy: "Checked on ")[0]), "\(written)")
    }

    @Test("says that a check failed, and so does the exit status", arguments: [(1, 0), (0, 1)])
    func failed(lintian: Int, tests: Int) async throws {
        let (outcome, page) = try await check(lintian: lintian, tests: tests)
        #expect(!outcome.isSuccess && page.contains("**A check failed.**"), "\(outcome)\(page)")
    }
}
