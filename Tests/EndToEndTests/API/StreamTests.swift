import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Bodies and answers of any length, through the real daemon and `authc`.
@Suite("Long bodies and answers", .serialized)
struct StreamTests {
    /// By how much authd may grow for a transfer, however long that is.
    static let maxKiB = 16 << 10
    /// The size that `make streams` sends, with a report.
    static let wantedMiB = ProcessInfo.processInfo.environment["STREAM_MIB"].flatMap { Int($0) }
    /// More than ``maxKiB``, so that what keeps a body whole is seen. Unoptimised programs take 0.3 s a MiB.
    static let longMiB = wantedMiB ?? 24
    static let avatar = "avatar=@avatar.jpg;type=image/jpeg"

    /// A file of `size` bytes, none of whose pieces is like another.
    static func picture(_ size: Int, in scene: Scene, named name: String = "avatar.jpg") throws -> String {
        let path = scene.desktop.folder.path + "/" + name
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        var piece = Data(count: 1 << 20)
        for place in 0..<((size + piece.count - 1) / piece.count) {
            piece.replaceSubrange(0..<8, with: withUnsafeBytes(of: place.bigEndian) { Data($0) })
            try file.write(contentsOf: piece.prefix(size - place * piece.count))
        }
        try file.close()
        return path
    }

    static func myPicture(_ scene: Scene) async throws -> String {
        "/avatars/\(try await scene.agent.status("app-template").user?.id ?? "").jpg"
    }

    /// A figure of a process's memory in KiB (proc(5), status), which any user may read.
    static func memory(_ figure: String, of pid: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(figure + ":") } ?? ""
        return try #require(Int(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? ""))
    }

    @Test("a long body is uploaded and downloaded whole, in memory that does not grow with it")
    func longTransfers() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let path = try Self.picture(Self.longMiB << 20, in: scene)
            let pid = try scene.agent.child.pid
            // What a small transfer needs once: code, buffers, connections.
            let small = try Self.picture(1 << 20, in: scene, named: "small.jpg")
            let first = try await scene.shell(
                "/usr/bin/time -f %M \"$0\" request POST /profile/avatar "
                    + "-F 'avatar=@\(small);type=image/jpeg;filename=avatar.jpg'")
            #expect(first.status == 0, "\(first.err)")
            let before = try Self.memory("VmRSS", of: pid)

            let up = try await scene.shell(
                "/usr/bin/time -f %M \"$0\" request POST /profile/avatar -F 'avatar=@\(path);type=image/jpeg'")
            #expect(up.status == 0, "\(up.out)\(up.err)")
            let picture = try await Self.myPicture(scene)
            let down = try await scene.shell("/usr/bin/time -f %M \"$0\" request GET \(picture) --output \(path).back")
            #expect(down.status == 0, "\(down.err)")
            let same = try await scene.shell("cmp \(path) \(path).back")
            #expect(same.status == 0, "\(same.out)\(same.err)")

            // Its peak may have been before: then it has grown by less.
            let grown = try Self.memory("VmHWM", of: pid) - before
            #expect(grown < Self.maxKiB, "authd grew by \(grown) KiB")
            // Most of it is the program's file: an unoptimised one is long. A body that is kept whole is seen beside it.
            let peaks = try [first, up, down].map { try #require(Int($0.err.split(separator: "\n").last ?? "")) }
            for peak in peaks { #expect(peak < peaks[0] + Self.maxKiB / 4, "authc had \(peaks) KiB") }
            guard Self.wantedMiB != nil else { return }
            print(
                "\(Self.longMiB) MiB up and down: authd grew by \(grown) KiB, authc had \(peaks[1]) and \(peaks[2]) KiB, "
                    + "and \(peaks[0]) KiB for 1 MiB; authd may grow by \(Self.maxKiB).")
        }
    }

    /// How many sockets for bodies the agent has given to clients.
    private static func sockets(of scene: Scene) async throws -> Int64 {
        let counters = try await scene.agent.json("stats")["counters"]
        #expect(counters?["open_body_sockets"] == 0)
        return try #require(counters?["body_sockets"]?.integerValue)
    }

    @Test("files and responses go through a socket of the agent, one for each transfer, and other input in pieces")
    func sockets() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let path = try Self.picture(5 << 20, in: scene)
            let post = "\"$0\" request POST /profile/avatar -H 'Idempotency-Key: 7' -F 'avatar=@"
            let up = try await scene.shell(post + "\(path);type=image/jpeg'")
            #expect(up.status == 0, "\(up.err)")
            #expect(try await Self.sockets(of: scene) == 1)
            let picture = try await Self.myPicture(scene)
            let same = try await scene.shell("\"$0\" request GET \(picture) -o - | cmp - \(path)")
            #expect(same.status == 0, "\(same.out)\(same.err)")
            #expect(try await Self.sockets(of: scene) == 2)
            let short = try await scene.authc(["request", "GET", "/users", "-o", "-"])
            #expect(short.status == 0 && short.out.hasPrefix("{"), "\(short.err)")

            let piped = try await scene.shell("cat \(path) | " + post + "-;type=image/jpeg;filename=avatar.jpg'")
            #expect(piped.status == 0, "\(piped.err)")
            let before = try await Self.sockets(of: scene)
            #expect(2...3 ~= before, "\(before)")

            // The second reading has another socket; authc may ask for one before it knows where to continue.
            var late = Misbehaviour(path: "/profile/avatar", times: 1, .status(503))
            late.behaviour.delay = .seconds(1)
            await scene.backends.misbehave(.appTemplate, late)
            let again = try await scene.shell(post + "\(path);type=image/jpeg'")
            #expect(again.status == 0, "\(again.err)")
            #expect(try await Self.sockets(of: scene) >= before + 2)
        }
    }

    @Test("a retry sends the body again if it can be read again")
    func secondBody() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let path = try Self.picture(5 << 20, in: scene)
            let refusal = Misbehaviour(path: "/profile/avatar", times: 1, .status(503))
            let post = "\"$0\" request POST /profile/avatar -H 'Idempotency-Key: 7' -F 'avatar=@"
            await scene.backends.misbehave(.appTemplate, refusal)
            let up = try await scene.shell(post + "\(path);type=image/jpeg'")
            #expect(up.status == 0, "\(up.err)")
            #expect(scene.backends.counts[.appTemplate, "POST /profile/avatar"] == 2)
            let picture = try await Self.myPicture(scene)
            let same = try await scene.shell("\"$0\" request GET \(picture) -o - | cmp - \(path)")
            #expect(same.status == 0, "\(same.out)\(same.err)")

            var late = refusal
            // Something of the body is gone by then.
            late.behaviour.delay = .seconds(1)
            await scene.backends.misbehave(.appTemplate, late)
            let piped = "cat \(path) | " + post + "-;type=image/jpeg;filename=avatar.jpg'"
            let once = try await scene.shell(piped)
            #expect(once.status == 75, "\(once.status) \(once.err)")
            let again = try await scene.shell(piped)
            #expect(again.status == 0, "\(again.err)")
        }
    }

    @Test("an answer before the whole body, a lost connection and a refusal each say what happened")
    func endings() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let path = try Self.picture(6 << 20, in: scene)
            await scene.backends.misbehave(
                .appTemplate,
                Misbehaviour(path: "/profile/avatar", times: 1, .status(413, body: ["message": "Picture too large"])))
            let early = try await scene.authc(["call", "avatar", "avatar=@\(path)"])
            #expect(early.status == 76 && early.err.contains("Picture too large"), "\(early.status) \(early.err)")
            let up = try await scene.authc(["call", "avatar", "avatar=@\(path)"])
            #expect(up.status == 0, "\(up.err)")

            let (picture, answer) = (try await Self.myPicture(scene), path + ".back")
            await scene.backends.misbehave(.appTemplate, Misbehaviour(path: picture, times: 1, .cut(.midBody)))
            let cut = try await scene.authc(["request", "GET", picture, "-o", answer])
            #expect(cut.status == 75, "\(cut.status) \(cut.err)")
            let missing = try await scene.authc(["request", "GET", "/avatars/nobody.jpg", "-o", answer])
            #expect(missing.status == 65 && missing.err.contains("Picture not found"), "\(missing.err)")
            // A limit of the file's size stands in for a disk that fills up in the middle.
            let limited = try await scene.shell("ulimit -f 4096; \"$0\" request GET \(picture) -o \(answer)")
            #expect(limited.status == 70 && limited.err.contains("the file would be too large"), "\(limited.err)")
            let full = try await scene.authc(["request", "GET", picture, "-o", "/dev/full"])
            #expect(full.status == 70 && full.err.contains("the disk is full"), "\(full.status) \(full.err)")
            let closed = try await scene.shell(
                "\"$0\" request GET \(picture) -o - | head -c 100000 > /dev/null; exit ${PIPESTATUS[0]}")
            #expect(closed.status == 141, "\(closed.status) \(closed.err)")
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.desktop.folder.path)
            #expect(left.allSatisfy { !$0.contains("back") }, "\(left)")
            // An answer of JSON goes out as it came.
            let users = try await scene.authc(["request", "GET", "/users", "-o", "-"])
            #expect(users.status == 0 && users.out.hasPrefix("{"), "\(users.err)")
        }
    }

    @Test("a terminal shows a progress bar, and ^C ends the transfer without leftovers")
    func terminal() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            // More than the sockets between hold while the backend does not read yet: however fast all is, it takes a while.
            await scene.backends.misbehave(
                .appTemplate, Misbehaviour(path: "/profile/avatar", .delay(.milliseconds(600))))
            let path = try Self.picture(24 << 20, in: scene)
            let upload = "authc call avatar avatar=@\(path); echo \"exit $?\""
            // "97 %  23.4 MiB of 24 MiB" has 24 columns, and the last one is left free.
            for (columns, words) in [(100, ["MiB of 24 MiB", "MiB/s", "left", "░"]), (25, ["MiB of 24 MiB"])] {
                let terminal = try await Terminal(
                    upload, columns: UInt16(columns), environment: scene.desktop.environment)
                await terminal.ends()
                await terminal.waits(for: "exit ")
                let shown = terminal.text
                #expect(shown.contains("exit 0"), "\(shown)")
                for word in words { #expect(shown.contains(word), "\(columns): \(shown)") }
                let drawn = shown.split(separator: "\r").filter { $0.contains("MiB of") }
                #expect(!drawn.isEmpty, "\(shown)")
                #expect(drawn.allSatisfy { !$0.contains("\n") && $0.count < columns + 3 }, "\(drawn)")
            }
            let held = try await Terminal(
                "(head -c 30000000 /dev/zero; sleep 600) | authc request POST /profile/avatar -d @- -o \(path).back; echo",
                environment: scene.desktop.environment)
            await held.waits(for: "MiB/s")
            held.type("\u{3}")
            await held.ends()
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.desktop.folder.path)
            #expect(left.allSatisfy { !$0.contains("back") }, "\(left)")
        }
    }

    @Test("streams have a limit, end with their connection, and do not disturb others")
    func bounded() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let path = scene.desktop.folder.path + "/run/authd/socket"
            @Sendable func upload(_ name: String) -> JSON {
                [
                    "method": "POST", "path": "/profile/avatar", "stream": .string(name),
                    "body_stream": ["size": 1_000_000],
                ]
            }
            try await onThread {
                let client = try RawClient(path)
                for number in 1...Limits.streamsPerConnection {
                    try client.send(RawClient.request("api.request", upload("s\(number)"), id: .integer(Int64(number))))
                }
                let more = try client.ask("api.request", upload("more"), id: 100)
                #expect(more.errorKind == "busy")
                let taken = try client.ask(
                    "api.write", ["stream": "s1", "offset": 0, "body_base64": "AAAA"], id: 101)
                #expect(taken["result"]?["next"] == 3, "\(taken.text())")
                let wrong = try client.ask(
                    "api.write", ["stream": "s1", "offset": 99, "body_base64": "AAAA"], id: 102)
                #expect(wrong["result"]?["next"] == 3, "\(wrong.text())")
                let long = try client.ask(
                    "api.write", ["stream": "s2", "offset": 0, "body_base64": "AAAA", "last": true], id: 103)
                #expect(long.errorKind == "validation", "\(long.text())")
                let token = try client.ask("token.get", id: 104)
                #expect(token["result"]?["access_token"] != nil, "\(token.text())")
                #expect(try client.ask("api.read", ["stream": "nobody"], id: 105).errorKind == "not_found")
                #expect(try client.ask("api.close", ["stream": "s3"], id: 106)["result"] != nil)
                #expect(try client.json().errorKind == "denied")
            }
            // The client is gone, and its streams with it.
            try await onThread {
                let client = try RawClient(path)
                var waiting = 1
                for _ in 1...2000 where waiting > 0 {
                    let stats = try client.ask("agent.stats")
                    waiting = Int(stats["result"]?["counters"]?["waiting_requests"]?.integerValue ?? 1)
                }
                #expect(waiting == 0)
            }
        }
    }
}
