import Foundation
import Testing

/// Programs of `Tests/packaging-packages.txt` are needed: `make check-packages` installs them and runs this suite.
@Suite("lintian, an archive, and packages for systems other than Debian", .serialized)
struct OtherPackageInstalledTests {
    private let scene = PackageScene()

    @Test("lintian's errors make the check fail")
    func lintian() async throws {
        try await scene.withFolder { folder in
            let checked = try await scene.shell(
                """
                mkdir -p "$1/tree/DEBIAN" "$1/tree/etc/none"
                printf 'Package: bad\\nVersion: 1\\nArchitecture: all\\nDescription: bad\\n' >"$1/tree/DEBIAN/control"
                dpkg-deb --root-owner-group --build "$1/tree" "$1/bad.deb" >/dev/null
                lintian --no-cfg --allow-root --fail-on error "$1/bad.deb"
                """, folder)
            #expect(!checked.isSuccess && checked.out.contains("E: bad:"), "\(checked.out)\(checked.err)")
        }
    }

    @Test("the archive of the same programs has the same bytes, and in it is what make install installs")
    func archive() async throws {
        try await scene.withFolder { folder in
            try await scene.makePrograms(in: folder)
            for (name, options) in [("first", ""), ("second", "umask 077; TZ=Asia/Tokyo")] {
                let made = try await scene.shell(
                    "\(options) Sources/Packaging/tarball \"$1/programs\" \"$1/\(name)\"", folder)
                try #require(made.isSuccess, "\(made.err)")
            }
            let difference = try await scene.shell("diff --recursive --brief \"$1/first\" \"$1/second\"", folder)
            #expect(difference.isSuccess, "\(difference.out)")
            try scene.record(linter: "cmp, of two archives", "the same bytes")
            let list = try await scene.shell("tar --list --verbose --file \"$1\"/first/*.tar.xz", folder)
            let rows = list.out.split(separator: "\n")
            #expect(rows.count > 90 && rows.allSatisfy { $0.contains(" root/root ") })
            for name in [
                "bin/authd", "bin/authc", "libexec/authd-session/authc-full", "libexec/authd-session/authc-texts",
                "lib/systemd/user/authd.socket",
                "share/man/man1/authc.1", "share/doc/authd-session/copyright",
                "share/doc/authd-session/authd.cdx.json",
            ] {
                #expect(rows.contains { $0.hasSuffix("/\(name)") }, "\(name)")
            }
            let copyright = try await scene.shell(
                "tar --extract --to-stdout --wildcards --file \"$1\"/first/*.tar.xz '*/copyright'", folder)
            #expect(copyright.out.contains("TERMS AND CONDITIONS FOR USE, REPRODUCTION"))
        }
    }

    @Test("rpmlint reports no errors about the spec, and rpmbuild makes packages with it")
    func spec() async throws {
        let spec = "Sources/Packaging/rpm/authd-session.spec"
        let lint = try await scene.shell("rpmlint --config Sources/Packaging/rpm/rpmlint.toml \(spec)")
        #expect(lint.isSuccess && lint.out.contains(" 0 errors"), "\(lint.out)\(lint.err)")
        let summary = lint.out.split(separator: "\n").last { $0.contains(" errors") } ?? "no summary"
        try scene.record(linter: "rpmlint", summary.trimmingCharacters(in: .whitespaces))
        try await scene.withFolder { folder in
            try await scene.makePrograms(in: folder)
            // Debian has no database of installed rpm packages, and so no dependencies.
            let built = try await scene.shell(
                """
                SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) rpmbuild -bb --nodeps --quiet --define "programs $1/programs" \
                    --define "_topdir $1/top" --define "_rpmdir $1/rpm" \(spec)
                for package in "$1"/rpm/*/*.rpm; do rpm --query --list --package "$package"; done
                """, folder)
            #expect(built.isSuccess, "\(built.err)")
            let names = built.out.split(separator: "\n")
            for name in ["/usr/bin/authd", "/usr/libexec/authd-session/authd-gateway", "/usr/include/authclient.h"] {
                #expect(names.contains(name[...]), "\(name)")
            }
            #expect(names.contains { $0.hasSuffix("/libauthclient.so.0") })
            #expect(names.contains { $0.hasSuffix("/90-authd-session.preset") })
            try scene.record(linter: "rpmbuild", "packages with \(names.count) files and folders")
        }
    }

    @Test("the Nix expression can be parsed, and has the version of the programs")
    func nix() async throws {
        try await scene.withFolder { folder in
            let parsed = try await scene.shell(
                """
                NIX_STATE_DIR=$1/state NIX_STORE_DIR=$1/store NIX_LOG_DIR=$1/log NIX_CONF_DIR=$1 \
                    nix-instantiate --parse Sources/Packaging/nix/authd-session.nix
                """, folder)
            #expect(parsed.isSuccess && parsed.out.contains("mkDerivation"), "\(parsed.err)")
            let release = try #require(ProjectFiles.file("Sources/AuthWire/Release.swift"))
            let number = try #require(release.text.firstMatch(of: /version = "([^"]+)"/)?.1)
            #expect(parsed.out.contains("version = \"\(number)\""), "\(parsed.out)")
            try scene.record(linter: "nix-instantiate --parse", "the expression of version \(number)")
        }
    }
}
