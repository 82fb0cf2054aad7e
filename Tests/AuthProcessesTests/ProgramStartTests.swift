import AuthFiles
import AuthProcesses
import Glibc
import Testing

@Suite("Programs as children of this process")
struct ProgramStartTests {
    @Test("a child gets the given variables only")
    func variables() throws {
        #expect(try output(of: ["/usr/bin/env"]) { $0.environment = ["A=1", "B=x y"] } == "A=1\nB=x y\n")
        #expect(try output(of: ["/usr/bin/env"]) { $0.environment = [] } == "")
    }

    @Test("without variables given, it gets those of this process")
    func sameVariables() throws {
        let path = try #require(unsafe getenv("PATH"))
        #expect(try output(of: ["sh", "-c", "printf %s \"$PATH\""]) == String(cString: path))
    }

    @Test("a name without a slash is looked up on the PATH; one that is not there is an error")
    func lookup() throws {
        #expect(try end(of: ["true"]) == .exit(status: 0))
        let failure = #expect(throws: SystemFailure.self) { try ProgramStart(["no-such-program"]).start() }
        #expect(failure?.number == ENOENT)
        #expect(failure?.description == "cannot start no-such-program: No such file or directory")
    }

    @Test("a child's own name may differ from the program's")
    func ownName() throws {
        #expect(try output(of: ["named", "-c", "printf %s \"$0\""], program: "/bin/sh") == "named")
    }

    @Test("a child has no descriptor from a number on")
    func descriptors() throws {
        let command = ["sh", "-c", "for n in 0 1 2 71; do [ ! -e /proc/self/fd/$n ] || printf '%s ' $n; done"]
        let file = try opened("/dev/null")
        defer { close(file) }
        #expect(try output(of: command) { $0.pass(file, as: 71) } == "0 1 2 71 ")
        let found = try output(of: command) {
            $0.pass(file, as: 71)
            $0.close(from: 3)
        }
        #expect(found == "0 1 2 ")
    }

    @Test("the null device can be passed")
    func nothing() throws {
        let found = try output(of: ["readlink", "/proc/self/fd/0", "/proc/self/fd/2"]) {
            $0.passNothing(as: STDIN_FILENO, STDERR_FILENO)
        }
        #expect(found == "/dev/null\n/dev/null\n")
    }

    @Test(
        "a child has the process group and session that were asked for",
        arguments: [
            (ProgramStart.Separation.none, "other other"), (.group, "own other"), (.session, "own own"),
        ])
    func separation(_ separation: ProgramStart.Separation, _ expected: String) throws {
        // proc_pid_stat(5): the process ID, the name, the state, the parent, the process group, the session. `read` is
        // a part of the shell, so these are the shell's.
        let script = """
            read -r pid name state parent group session rest </proc/self/stat
            [ "$group" = "$pid" ] && g=own || g=other
            [ "$session" = "$pid" ] && s=own || s=other
            printf '%s %s' $g $s
            """
        #expect(try output(of: ["sh", "-c", script]) { $0.separate(separation) } == expected)
    }

    @Test("a child blocks and ignores the requested signals")
    func signals() throws {
        // Signal n is bit n - 1 (proc_pid_status(5), SigBlk and SigIgn).
        let command = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
        let found = try output(of: command) {
            var mask = sigset_t()
            unsafe sigemptyset(&mask)
            unsafe sigaddset(&mask, SIGUSR1)
            $0.block(mask)
            $0.ignoreNoSignal()
        }
        let sets = found.split(separator: "\n").compactMap { UInt64($0.suffix(16), radix: 16) }
        // glibc keeps the signals 32 and 33 for itself (nptl(7)).
        let own: UInt64 = 3 << 31
        #expect(sets.count == 2 && sets.first == 1 << (SIGUSR1 - 1), "\(found)")
        #expect(sets.last.map { $0 & ~own } == 0, "\(found)")
        #expect(try output(of: command) { $0.blockNoSignal() }.hasPrefix("SigBlk:\t0000000000000000\n"))
    }

    @Test("a child's end is an exit status or a signal, and shells have a number for both")
    func ends() throws {
        let exit = try end(of: ["sh", "-c", "exit 3"])
        #expect(exit == .exit(status: 3) && exit.shellStatus == 3)
        let signal = try end(of: ["sh", "-c", "kill -9 $$"])
        #expect(signal == .signal(9) && signal.shellStatus == 137)
    }

    @Test("a running child has no end yet")
    func running() throws {
        let ends = try pipeEnds()
        var program = try ProgramStart(["cat"])
        program.pass(ends[0], as: STDIN_FILENO)
        let child = try program.start()
        #expect(ProcessEnd(ofEnded: child) == nil)
        for end in ends { close(end) }
        #expect(ProcessEnd(of: child) == .exit(status: 0))
    }

    // MARK: Helpers

    private func end(of command: [String]) throws -> ProcessEnd {
        ProcessEnd(of: try ProgramStart(command).start())
    }

    private func output(
        of command: [String], program: String? = nil, _ change: (inout ProgramStart) -> Void = { _ in }
    ) throws -> String {
        let ends = try pipeEnds()
        defer { close(ends[0]) }
        var start = try ProgramStart(command, program: program)
        start.pass(ends[1], as: STDOUT_FILENO)
        change(&start)
        let child: pid_t
        do {
            defer { close(ends[1]) }
            child = try start.start()
        }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(ends[0], &part, part.count)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        #expect(ProcessEnd(of: child) == .exit(status: 0))
        return String(decoding: bytes, as: UTF8.self)
    }

    private func pipeEnds() throws -> [CInt] {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    private func opened(_ path: String) throws -> CInt {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        return file
    }
}
