import Foundation
import Testing

/// lintian, and installing them: `make check-packages`, with release programs.
@Suite("Debian packages", .serialized)
struct PackageTests {
    private let scene = PackageScene()
    /// 2033-05-18 03:33:20 in UTC: later than any file of the clone, so that dpkg-deb itself changes none.
    private static let time = 2_000_000_000

    private func assemble(_ folder: String, as name: String, options: String = "") async throws {
        let assembled = try await scene.shell(
            "export SOURCE_DATE_EPOCH=\(Self.time); \(options) Sources/Packaging/deb/assemble \"$1/programs\" \"$1/\(name)\"",
            folder)
        try #require(assembled.isSuccess, "\(assembled.err)")
    }

    @Test("two assemblies of the same programs are equal byte by byte, and complete")
    func reproducible() async throws {
        try await scene.withFolder { folder in
            try await scene.makePrograms(in: folder)
            try await assemble(folder, as: "first")
            try await assemble(folder, as: "second", options: "umask 077; TZ=Asia/Tokyo LANG=C")
            let difference = try await scene.shell(
                "diff --recursive --brief \"$1/first\" \"$1/second\"", folder)
            #expect(difference.isSuccess, "\(difference.out)")
            try await expectContents(folder + "/first")
            try await expectControl(folder + "/first")
        }
    }

    /// Names that `ls` of dpkg-deb prints, without folders.
    private func expectContents(_ folder: String) async throws {
        let list = try await scene.shell(
            "for file in \"$1\"/*.deb; do TZ=UTC dpkg-deb --contents \"$file\"; done", folder)
        let rows = list.out.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 5) }
        #expect(rows.count > 100)
        #expect(rows.allSatisfy { $0[1] == "root/root" })
        #expect(rows.allSatisfy { $0[3] == "2033-05-18" && $0[4] == "03:33" })
        let names = rows.filter { $0[0].first != "d" }.map { $0[5].split(separator: " ")[0] }
        #expect(Set(names).count == names.count, "two packages have the same file")
        #expect(names.allSatisfy { $0.hasPrefix("./usr/") })
        let wanted = [
            "bin/authd", "bin/authc", "libexec/authd-session/authc-full", "libexec/authd-session/authd-gateway",
            "libexec/authd-session/authc-texts",
            "lib/systemd/user/authd.service", "lib/systemd/user/authd.socket", "lib/systemd/catalog/authd.catalog",
            "lib/systemd/user-preset/90-authd-session.preset", "include/authclient.h",
            "share/dbus-1/services/org.authd.service", "share/polkit-1/actions/org.authd.policy",
            "share/applications/org.authd.agent.desktop",
            "share/icons/hicolor/scalable/apps/org.authd.agent.svg", "share/metainfo/org.authd.agent.metainfo.xml",
            "share/bash-completion/completions/authc", "share/zsh/vendor-completions/_authc",
            "share/fish/vendor_completions.d/authc.fish", "share/doc/authd-session/authd.toml.sample",
            "share/doc/authd-session/providers/app-template.toml", "share/doc/authd-session/copyright",
            "share/doc/authd-session/authd.cdx.json",
            "lib/python3/dist-packages/authd_client/py.typed",
            "lib/python3/dist-packages/authd_client-0.1.0.dist-info/entry_points.txt",
        ]
        for name in wanted { #expect(names.contains("./usr/\(name)"), "\(name)") }
        for name in ["libauthclient.so.0", "libauthclient.so", "libauthclient.a", "pkgconfig/authclient.pc"] {
            #expect(
                names.contains { $0.wholeMatch(of: /\.\/usr\/lib\/[^\/]+-linux-gnu\/(.+)/)?.1 == name[...] }, "\(name)")
        }
        for file in ProjectFiles.files(under: "systemd") {
            let name = file.path.split(separator: "/").last.map(String.init) ?? ""
            let place = name.hasSuffix(".catalog") ? "catalog" : "user"
            #expect(names.contains("./usr/lib/systemd/\(place)/\(name)"), "\(name)")
        }
        for page in ProjectFiles.files(under: "Docs/man") {
            let name = page.path.split(separator: "/").last.map(String.init) ?? ""
            #expect(names.contains("./usr/share/man/man\(name.suffix(1))/\(name).gz"), "\(name)")
        }
    }

    private func expectControl(_ folder: String) async throws {
        let fields = try await scene.shell(
            "for name in authd-session libauthclient0 libauthclient-dev python3-authd-client; do "
                + "dpkg-deb --field \"$1\"/${name}_*.deb Package Version Architecture Depends; done", folder)
        let packages = fields.out.split(separator: "Package: ")
        try #require(packages.count == 4, "\(fields.out)\(fields.err)")
        #expect(packages[1].contains("Depends: libc6 "), "\(packages[1])")
        #expect(packages[3].contains("Architecture: all") && packages[3].contains("Depends: python3:any"))
        let release = try #require(ProjectFiles.file("Sources/AuthWire/Release.swift"))
        let number = try #require(release.text.firstMatch(of: /version = "([^"]+)"/)?.1)
        for package in packages { #expect(package.contains("Version: \(number)~2"), "\(package)") }
        // The python package is what pip finds.
        let found = try await scene.shell(
            """
            dpkg-deb --extract "$1"/python3-authd-client_*.deb "$1/python"
            PYTHONPATH="$1/python/usr/lib/python3/dist-packages" /usr/bin/python3 -c '
            import authd_client
            from importlib.metadata import distribution
            found = distribution("authd-client")
            print(found.version, *(f"{entry.group} {entry.value}" for entry in found.entry_points))'
            """, folder)
        #expect(found.out == "\(number) keyring.backends authd_client.keyring_backend\n", "\(found.err)")
    }

    // MARK: Units

    @Test("the preset names each unit that can be enabled, and enables only the socket; a removal stops each that runs")
    func units() throws {
        let units = ProjectFiles.files(under: "systemd").filter { !$0.path.hasSuffix(".catalog") }
        #expect(units.count > 9)
        let preset = try #require(ProjectFiles.file("Sources/Packaging/user.preset"))
        let removal = try #require(ProjectFiles.file("Sources/Packaging/deb/authd-session.prerm"))
        let rules = Set(preset.lines.filter { !$0.hasPrefix("#") && !$0.isEmpty }.map(String.init))
        var expected: Set<String> = []
        for unit in units {
            let name = unit.path.split(separator: "/").last.map(String.init) ?? ""
            if unit.text.contains("\n[Install]\n") {
                expected.insert((name == "authd.socket" ? "enable " : "disable ") + name)
            }
            // authc-wait only waits, and ends with the socket that it requires.
            guard !name.hasPrefix("authc-wait@") else { continue }
            let words = removal.text.split { $0 == " " || $0 == "'" || $0.isNewline }
            #expect(words.contains(Substring(name.replacing("@.", with: "@*."))), "\(name)")
        }
        #expect(expected.subtracting(rules).isEmpty, "\(expected.subtracting(rules))")
        #expect(rules.filter { $0.hasPrefix("enable ") } == ["enable authd.socket"])
    }

    // MARK: Licences

    @Test("the copyright file names every package that is linked in, with its licence and its notice")
    func notices() async throws {
        let programs = try ProjectFiles.built().path
        let printed = try await scene.shell(
            "Sources/Packaging/notices \"$1\" authd authc authc-full authd-gateway authclient", programs)
        try #require(printed.isSuccess, "\(printed.err)")
        let text = printed.out
        #expect(text.contains("\nLicense: not-chosen-yet\n"))
        // Ours, the runtime, and what the static programs have of the system.
        for part in ["swift", "libc6-dev", "libyaml-dev"] { #expect(text.contains("\nFiles: \(part)/*\n"), "\(part)") }
        let names = ["async-http-client", "swift-crypto", "swift-nio", "swift-nio-ssl"]
        for name in names { #expect(text.contains("\nFiles: \(name)/*\n"), "\(name)") }
        // Linked into stand-ins and tests only.
        for name in ["hummingbird", "swift-subprocess"] { #expect(!text.contains("\nFiles: \(name)/*\n"), "\(name)") }
        for phrase in [
            "This product contains NodeJS's llhttp", "The BoringSSL Authors", "Mark Gillard", "Jean-loup Gailly",
            "Rich Felker",
        ] { #expect(text.contains(phrase), "\(phrase)") }
        // Each licence that a part names is there.
        let licences = Set(text.matches(of: #/\nLicense: ([^\n]+)\n(?! )/#).map(\.1))
        let texts = Set(text.matches(of: #/\nLicense: ([^\n]+)\n /#).map(\.1))
        #expect(licences.subtracting(texts).isEmpty)
        #expect(texts.contains("Apache-2.0") && texts.contains("Apache-2.0 with Swift exception"))
        #expect(!text.contains("TERMS AND CONDITIONS FOR USE, REPRODUCTION"))
        let whole = try await scene.shell("Sources/Packaging/notices --whole \"$1\" authd", programs)
        #expect(whole.out.contains("TERMS AND CONDITIONS FOR USE, REPRODUCTION"))
    }

    /// The products' objects: `/build/MODULE.build/FILE.o`.
    private func link(_ product: String, _ modules: [String], in folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(product).product", withIntermediateDirectories: true)
        try modules.map { "/build/\($0).build/file.o\n" }.joined()
            .write(
                toFile: "\(folder)/\(product).product/Objects.LinkFileList", atomically: true, encoding: .utf8)
    }

    @Test("a header of the system that a module of the product compiles is named with its package's licence")
    func headers() async throws {
        try await scene.withFolder { folder in
            try link("authd", ["AuthProviders", "CTOML"], in: folder)
            try link("authd-gateway", ["CTOML"], in: folder)
            try link("authclient", ["AuthConnection"], in: folder)
            let products = "authd authd-gateway authclient"
            let printed = try await scene.shell("Sources/Packaging/notices \"$1\" \(products)", folder)
            try #require(printed.isSuccess, "\(printed.err)")
            let stanzas = printed.out.components(separatedBy: "\n\nFiles: ")
            let stanza = try #require(stanzas.first { $0.hasPrefix("libtomlplusplus-dev/*\n") }, "\(printed.out)")
            #expect(stanza.contains("toml.h of libtomlplusplus-dev "))
            #expect(stanza.contains("linked into authd, authd-gateway.\n"))
            #expect(stanza.contains("Bjoern Hoehrmann") && stanza.contains("Permission is hereby granted"))
            let without = try await scene.shell("Sources/Packaging/notices \"$1\" authclient", folder)
            #expect(without.isSuccess && !without.out.contains("tomlplusplus"), "\(without.err)")
        }
    }

    @Test("on a system without Debian's packages the error says so")
    func otherSystem() async throws {
        try await scene.withFolder { folder in
            try link("authd", ["CTOML"], in: folder)
            // The compiler is asked for its version first.
            let printed = try await scene.shell(
                """
                mkdir "$1/bin"
                ln -s "$(command -v swiftc)" "$1/bin/"
                PATH=$1/bin Sources/Packaging/notices "$1" authd
                """, folder)
            #expect(!printed.isSuccess && printed.err.contains("notices: dpkg-query is missing"), "\(printed.err)")
        }
    }

    @Test("a module that no resolved package has, or a product without objects, is an error")
    func unknownModule() async throws {
        try await scene.withFolder { folder in
            try link("authd", ["NIOCore", "NobodysModule"], in: folder)
            let unknown = try await scene.shell("Sources/Packaging/notices \"$1\" authd", folder)
            #expect(!unknown.isSuccess && unknown.err.contains("the module NobodysModule"), "\(unknown.err)")
            let missing = try await scene.shell("Sources/Packaging/notices \"$1\" authc", folder)
            #expect(!missing.isSuccess && missing.err.contains("build the product authc first"), "\(missing.err)")
        }
    }
}
