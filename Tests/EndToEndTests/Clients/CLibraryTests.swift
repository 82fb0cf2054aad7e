import AuthWire
import Foundation
import TestSupport
import Testing

/// `libauthclient` as programs in C and C++ have it: its header, its shared and its static library.
@Suite("The C library", .timeLimit(.minutes(4)))
struct CLibraryTests {
    /// What `make library` and `make install-library` do, with the build of the tests.
    private static let setUp = """
        set -e
        root=\(SourceTree.root)
        mkdir -p lib include
        cp $root/Sources/CAuthClient/authclient.h include/
        cp \(Programs.folder)/libauthclient.so lib/libauthclient.so.0
        ln -sf libauthclient.so.0 lib/libauthclient.so
        $root/Sources/AuthClientLibrary/archive \(Programs.folder) lib/libauthclient.a
        mkdir -p lib/pkgconfig
        sed "s|@PREFIX@|$PWD|; s|@LIBDIR@|$PWD/lib|; s|@VERSION@|1|" \
            $root/Sources/AuthClientLibrary/authclient.pc.in > lib/pkgconfig/authclient.pc
        export PKG_CONFIG_PATH=$PWD/lib/pkgconfig LD_LIBRARY_PATH=$PWD/lib
        strict='-Wall -Wextra -Werror -pedantic'

        """

    /// How the program of the trial is linked and run. The static one is checked for faults in its memory.
    enum Linking: String, CaseIterable {
        case shared = """
            cc $strict $trial -pthread $(pkg-config --cflags --libs authclient) -o trial
            cc -x c++ $strict -std=c++17 -fsyntax-only include/authclient.h
            ./trial
            """
        case `static` = """
            cc $strict $trial -pthread -Iinclude lib/libauthclient.a \
                $(pkg-config --static --libs authclient | sed 's/-lauthclient//') -o trial
            unset LD_LIBRARY_PATH
            valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
                --error-exitcode=9 ./trial
            """
    }

    @Test("a C program calls, rejects a token, follows events, forks and has threads", arguments: Linking.allCases)
    func trial(linking: Linking) async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            let done = try await scene.run(
                Self.setUp + "trial=$root/Tests/EndToEndTests/Clients/CLibrary/trial.c\n" + linking.rawValue
                    + " \(server.url) 'curl -sfX POST \(server.url)/control/revoke'")
            #expect(done.status == 0 && done.out.hasSuffix("all is well\n"), "\(done.out)\(done.err)")
            #expect(!(done.out + done.err).contains("token-"))
        }
    }

    @Test("the examples in C and C++ build and run: a token, the reason that there is none, and events")
    func examples() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            let built = try await scene.run(
                Self.setUp + """
                    cc $strict $root/Docs/clients/c/token.c $(pkg-config --cflags --libs authclient) -o token
                    c++ $strict -std=c++17 $root/Docs/clients/c/events.cc $(pkg-config --cflags --libs authclient) -o events
                    ./token \(server.url); ./events < /dev/null; authc logout; ./token \(server.url)
                    """)
            #expect(built.status == 1 && built.out.contains("a token of 7 bytes\n"), "\(built.out)\(built.err)")
            #expect(built.out.contains("snapshot") && built.err.contains("not_signed_in: "), "\(built.out)\(built.err)")
        }
    }

    @Test("the C++ example follows events without faults in its memory")
    func memory() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, _ in
            let done = try await scene.run(
                Self.setUp + """
                    c++ $strict -std=c++17 $root/Docs/clients/c/events.cc -pthread -Iinclude lib/libauthclient.a \
                        $(pkg-config --static --libs authclient | sed 's/-lauthclient//') -o events
                    unset LD_LIBRARY_PATH
                    valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
                        --error-exitcode=9 ./events < /dev/null
                    """)
            #expect(done.status == 0 && done.out.contains("snapshot"), "\(done.out)\(done.err)")
        }
    }

    @Test("the recipe: a program that shows the status of a session")
    func recipe() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""], as: "work") { scene, server in
            _ = try scene.desktop.folder.write(try Recipes.block(with: "/* me.c */"), to: "home/me.c")
            let built = try await scene.run(Self.setUp + (try Recipes.block(with: "cc me.c $(pkg-config")))
            #expect(built.status == 0, "\(built)")
            let status = try JSON(parsing: built.out)
            #expect(status["session"] == "work" && status["user"]?["email"] == "ada@example.org", "\(built)")
            let warnings = try await scene.run(Self.setUp + "cc $strict -fsyntax-only -Iinclude me.c")
            #expect(warnings.status == 0, "\(warnings)")
        }
    }

    @Test("a C++ program links the static library beside its own templates, and a program may unload the shared one")
    func otherPrograms() async throws {
        try await Scene.play(keyring: false) { scene in
            let done = try await scene.run(
                Self.setUp + """
                    programs=$root/Tests/EndToEndTests/Clients/CLibrary
                    c++ $strict -std=c++17 -Iinclude $programs/templates.cc lib/libauthclient.a -o templates
                    ./templates
                    cc -Wall -Wextra -Werror $programs/plugin.c -pthread -o plugin
                    ./plugin $PWD/lib/libauthclient.so
                    """)
            #expect(done.status == 0 && done.out == "3\nstill here\n", "\(done.out)\(done.err)")
        }
    }

    @Test("only the functions of the header are visible, and neither library needs Swift's")
    func symbols() async throws {
        try await Scene.play(keyring: false) { scene in
            let seen = try await scene.run(
                Self.setUp + """
                    grep -oE '\\bauthclient_[a-z_]+\\(' include/authclient.h | tr -d '(' | sort -u > declared
                    nm -D --defined-only lib/libauthclient.so | awk '$2 == "T" { sub("@.*", "", $3); print $3 }' | sort -u \
                        > shared
                    nm -g --defined-only lib/libauthclient.a | awk '$2 == "T" { print $3 }' | sort -u > static
                    cmp declared shared; cmp declared static; wc -l < declared
                    ! nm -g --defined-only lib/libauthclient.a | grep -v ' authclient_' | grep ' [A-Z] '
                    ! ldd lib/libauthclient.so | grep -i swift
                    readelf -d lib/libauthclient.so | grep -c 'SONAME.*libauthclient.so.0'
                    """)
            #expect(seen.status == 0 && seen.out == "17\n1\n", "\(seen.out)\(seen.err)")
        }
    }
}
