import AuthDaemon
import AuthModel
import AuthSockets
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Descriptors from the service manager")
struct ListenDescriptorsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func given(_ name: String, _ descriptor: CInt) -> ListenDescriptors.Given {
        ListenDescriptors.Given(name: name, descriptor: descriptor)
    }

    private func listening() throws -> CInt {
        try SocketFile.bind(path: folder.path + "/\(UInt32.random(in: 0 ... .max))").descriptor
    }

    private func end(_ received: ListenDescriptors.Received) {
        for socket in received.sockets.values { close(socket.descriptor) }
        for other in received.others { close(other.descriptor) }
    }

    @Test("become listeners by their names; sessions of the previous run stay what they are")
    func sorted() throws {
        let memory = FakeDescriptorStore.sealedMemory(holding: Data("x".utf8))
        let sockets = try ["authd.socket", "extra", "box", "tool-2"].map { given($0, try listening()) }
        let received = try ListenDescriptors.sorted([given("sessions.3", memory)] + sockets)
        defer { end(received) }
        #expect(received.refusals.isEmpty)
        #expect(Set(received.sockets.keys.map(\.rawValue)) == ["api", "extra", "box", "tool-2"])
        #expect(received.sockets[.api]?.descriptor == sockets[0].descriptor)
        #expect(received.sockets[.extra]?.path.hasPrefix(folder.path) == true)
        #expect(received.others.map(\.name) == ["sessions.3"] && received.others.map(\.descriptor) == [memory])
    }

    @Test(
        "with a name outside the rule are refused with the option to correct, and others are served",
        arguments: [
            "Box", "box.socket", "../api", "api api", "dbus", "unknown", "stored", "connection", "limited",
            "b\u{1B}[2J", "",
        ])
    func hostileNames(_ name: String) throws {
        let (wrong, right) = (try listening(), try listening())
        let received = try ListenDescriptors.sorted([given(name, wrong), given("box", right)])
        defer { end(received) }
        #expect(received.refusals == [.invalidName(name)] && received.others.isEmpty)
        #expect(received.sockets.values.map(\.descriptor) == [right])
        let text = try #require(received.refusals.first).description
        #expect(text.contains("FileDescriptorName=") && text.contains(ListenerName.rule), "\(text)")
        #expect(!text.contains("\u{1B}"))
    }

    @Test("that are not listening Unix sockets with a file are refused, closed and named")
    func otherKinds() throws {
        var pair: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        var pipes: [CInt] = [0, 0]
        #expect(pipe(&pipes) == 0)
        defer { for end in [pair[1], pipes[1]] { close(end) } }
        let unbound = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let datagram = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(listen(tcp, 1) == 0)
        // Bound to an abstract name that the kernel chooses (unix(7), "Autobind").
        let abstract = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: sockaddr().sa_data)
        #expect(bind(abstract, &address, socklen_t(MemoryLayout<sa_family_t>.size)) == 0 && listen(abstract, 1) == 0)
        for descriptor in [pair[0], pipes[0], unbound, datagram, tcp, abstract] {
            let right = try listening()
            let received = try ListenDescriptors.sorted([given("box", descriptor), given("tool", right)])
            defer { end(received) }
            #expect(received.refusals == [.notListening(name: "box")])
            #expect(received.sockets.values.map(\.descriptor) == [right])
            #expect(received.refusals.first?.description.contains("ListenStream=") == true)
        }
        // The other end is notified that it was closed.
        var ended = pollfd(fd: pair[1], events: Int16(POLLIN), revents: 0)
        #expect(poll(&ended, 1, 10_000) == 1 && ended.revents & Int16(POLLHUP) != 0)
    }

    @Test("that are not the main socket although they have its name keep the agent from starting")
    func wrongMain() throws {
        let datagram = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(datagram) }
        let refusal = #expect(throws: ListenDescriptors.Refusal.self) {
            try ListenDescriptors.sorted([given("api", datagram)])
        }
        #expect(refusal == .notListening(name: "api"))
    }

    @Test(
        "two main sockets keep the agent from starting, because one of them could be that of another unit",
        arguments: [["api", "api"], ["authd.socket", "box", "api"]])
    func twoMain(_ names: [String]) throws {
        let sockets = try names.map { given($0, try listening()) }
        defer { for socket in sockets { close(socket.descriptor) } }
        let refusal = #expect(throws: ListenDescriptors.Refusal.self) { try ListenDescriptors.sorted(sockets) }
        #expect(refusal == .several(.api))
        #expect(refusal?.description.contains("FileDescriptorName=") == true)
        #expect(refusal?.description.contains("first") == false)
    }

    @Test("that are not sockets, from a socket unit without a name, are refused with the option to correct")
    func namedByUnit() throws {
        var pipes: [CInt] = [0, 0]
        #expect(pipe(&pipes) == 0)
        defer { close(pipes[1]) }
        let received = try ListenDescriptors.sorted([given("authd-box.socket", pipes[0])])
        defer { end(received) }
        #expect(received.refusals == [.notListening(name: "authd-box.socket")])
        #expect(received.others.isEmpty && received.sockets.isEmpty)
    }

    @Test("with one name: the first is served")
    func several() throws {
        let sockets = try ["box", "tool", "box", "extra", "authd-extra.socket"].map { given($0, try listening()) }
        let received = try ListenDescriptors.sorted(sockets)
        defer { end(received) }
        let box = try #require(ListenerName(rawValue: "box"))
        #expect(received.refusals == [.several(box), .several(.extra)])
        #expect(received.sockets.count == 3 && received.sockets[box]?.descriptor == sockets[0].descriptor)
        #expect(received.refusals.allSatisfy { $0.description.contains("FileDescriptorName=") })
    }

    @Test("too many of them: the main socket and the first ones are served")
    func tooMany() throws {
        let names = (1...(ListenDescriptors.mostLimited + 2)).map { "box-\($0)" } + ["api"]
        let received = try ListenDescriptors.sorted(names.map { given($0, try listening()) })
        defer { end(received) }
        #expect(received.sockets.count == ListenDescriptors.mostLimited + 1 && received.sockets[.api] != nil)
        let refused = ["box-17", "box-18"].compactMap { ListenerName(rawValue: $0) }
        #expect(received.refusals == refused.map { .tooMany($0) })
    }
}
