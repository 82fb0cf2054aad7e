import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("The confinement of authd.service, under a real user manager", .serialized, .timeLimit(.minutes(5)))
struct ConfinementTests {
    /// What systemd-analyze(1) gives for options that take effect, and no more. It was 6.6.
    private static let exposure = 6.4

    @Test("systemd-analyze shows the exposure that the page of decisions names")
    func exposure() async throws {
        try await BootedMachine.play { machine in
            #expect(try await machine.authc("status").status == 3)
            let text = try await machine.asPerson(
                ["systemd-analyze", "--user", "--no-pager", "security", "authd.service"])
            let level = try #require(text.out.firstMatch(of: /level for authd\.service: ([0-9.]+)/), "\(text)")
            #expect(try #require(Double(level.1)) <= Self.exposure, "\(text.out)")
            #expect(try SourceTree.text("Docs/decisions/confinement.md").contains("\(Self.exposure)"))
        }
    }

    /// Calls that an ordinary process of the user may make. Each prints its name and 0, or the number of the error.
    private static let attempts = """
        import ctypes, mmap, os, socket
        libc = ctypes.CDLL(None, use_errno=True)
        file = b"/people/ada/file"
        open(file, "w").close()
        def call(name, *arguments):
            ctypes.set_errno(0)
            result = getattr(libc, name)(*arguments)
            print(name, 0 if result >= 0 else ctypes.get_errno())
        def attempt(name, work, *arguments, **more):
            try:
                work(*arguments, **more)
                print(name, 0)
            except OSError as error:
                print(name, error.errno)
        call("getppid")
        call("chown", file, 1000, 1000)
        call("chmod", file, 0o4700)
        opened = os.open(file, os.O_RDWR)
        attempt("fchmod", os.fchmod, opened, 0o600)
        attempt("ftruncate", os.ftruncate, opened, 0)
        attempt("mode", os.chmod, file, 0o600)
        attempt("times", os.utime, file)
        attempt("truncate", os.truncate, file, 0)
        attempt("pipe file", os.mkfifo, file + str(os.getpid()).encode())
        call("setpriority", 0, 0, 5)
        call("setresuid", 1000, 1000, 1000)
        call("shmget", 0, 4096, 0o600)
        call("personality", ctypes.c_ulong(0xffffffff))
        call("unshare", 0x10000000)
        call("sched_setaffinity", 0, 8, b"\\xff" + bytes(7))
        attempt("unix", socket.socket, socket.AF_UNIX)
        attempt("inet6", socket.socket, socket.AF_INET6)
        attempt("vsock", socket.socket, 40, socket.SOCK_STREAM)
        attempt("code", mmap.mmap, -1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        """

    @Test("system calls, namespaces, socket families and memory that authd does not need are refused in the unit")
    func calls() async throws {
        try await BootedMachine.play { machine in
            #expect(try await machine.authc("status").status == 3)
            try await machine.write(Self.attempts, to: "attempts.py")
            // The same unit, with another program.
            let text = try SourceTree.text("systemd/authd.service")
            let kept = text.split(separator: "\n").filter { line in
                let others = ["Type=", "Exec", "Restart", "WatchdogSec", "FileDescriptorStoreMax", "Requires", "Also"]
                return !others.contains { line.hasPrefix($0) } && !line.hasPrefix("[Install]")
            }
            func report(_ lines: [Substring], as name: String) async throws -> [String: Int] {
                let unit = lines.joined(separator: "\n").replacing(
                    "[Service]",
                    with: "[Service]\nType=oneshot\nExecStart=/usr/bin/python3 /people/ada/attempts.py\n"
                        + "StandardOutput=file:/people/ada/\(name)")
                try await machine.write(unit, to: ".config/systemd/user/\(name).service")
                try await machine.person("systemctl", "--user", "daemon-reload")
                try await machine.person("systemctl", "--user", "start", "\(name).service")
                let output = try await machine.person("cat", "/people/ada/\(name)")
                return Dictionary(
                    uniqueKeysWithValues: output.split(separator: "\n").compactMap { line in
                        let end = line.lastIndex(of: " ") ?? line.startIndex
                        return Int(line[line.index(after: end)...]).map { (String(line[..<end]), $0) }
                    })
            }
            let without = try await report(["[Service]"], as: "open")
            let within = try await report(kept, as: "confined")
            #expect(without.count == 19, "\(without)")
            for name in without.keys.sorted() {
                // A kernel may lack the family.
                #expect(without[name] == 0 || name == "vsock", "\(name): \(without)")
                switch name {
                case "getppid", "unix", "inet6", "fchmod", "ftruncate":
                    #expect(within[name] == 0, "\(name): \(within)")
                case "vsock": #expect(within[name] == Int(EAFNOSUPPORT), "\(within)")
                default: #expect(within[name] == Int(EPERM), "\(name): \(within)")
                }
            }
        }
    }

    @Test("authd is limited to its files, identifies its clients, and works as without the limits")
    func files() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            #expect(try await machine.journal(until: "Landlock limits authd to its files") != nil)
            let token = try await machine.authc("token").out
            #expect(!token.isEmpty)
            let log = try await machine.authc("log", "--json").out
            #expect(log.contains("\"exe\":\"/usr/lib/authd-built/authc"), "\(log)")
            // A client in another user namespace is still recognized, and one in another unit is not limited.
            let quiet = ["systemd-run", "--user", "--wait", "--pipe", "--quiet"]
            let program = ["/usr/lib/authd-built/authc", "token"]
            let confined = try await machine.asPerson(quiet + ["-p", "PrivateUsers=yes"] + program)
            #expect(confined.status == 77 && confined.err.contains("user namespace"), "\(confined)")
            #expect(try await machine.asPerson(quiet + program).out == token)

            // Reading: a profile that a link leads to, elsewhere in the home.
            try await machine.write("", to: "elsewhere/shop.toml")
            let providers = "/people/ada/.config/authd/providers"
            try await machine.person("mkdir", "-p", providers)
            try await machine.person("ln", "-s", "/people/ada/elsewhere/shop.toml", providers + "/shop.toml")
            let refused = try await machine.authc("reload")
            #expect(refused.status == 78 && refused.err.contains("Permission denied"), "\(refused)")
            try await machine.person("rm", providers + "/shop.toml")
            #expect(try await machine.authc("reload").status == 0)

            // Writing: another folder in place of the agent's.
            let state = "/people/ada/.local/state/authd"
            try await machine.person("mv", state, "/people/ada/before")
            try await machine.person("mkdir", "-m", "700", state)
            try await machine.write("# none\n", to: ".config/authd/policy.toml")
            let apply = """
                import json, socket, sys
                agent = socket.socket(socket.AF_UNIX)
                agent.connect("/run/user/1000/authd/socket")
                call = {"jsonrpc": "2.0", "id": 1, "method": "policy.apply", "params": {"accepted": "# none\\n"}}
                agent.sendall(json.dumps(call).encode() + b"\\n")
                print(agent.makefile().readline())
                """
            let unwritten = try await machine.person("python3", "-c", apply)
            #expect(unwritten.contains("The rules are not in use") && unwritten.contains("Permission denied"))
            try await machine.person("rmdir", state)
            try await machine.person("mv", "/people/ada/before", state)
            #expect(try await machine.person("python3", "-c", apply).contains("\"applied\":true"))
            #expect(try await machine.authc("token").out == token)
        }
    }

    @Test("a drop-in switches Landlock off, for diagnosis")
    func off() async throws {
        try await BootedMachine.play { machine in
            try await machine.write(
                "[Service]\nEnvironment=AUTHD_LANDLOCK=off\n", to: ".config/systemd/user/authd.service.d/files.conf")
            try await machine.person("systemctl", "--user", "daemon-reload")
            #expect(try await machine.authc("status").status == 3)
            #expect(try await machine.journal(until: "AUTHD_LANDLOCK is off") != nil)
            let readers = try await machine.asRoot("pgrep", "-x", "authd-reader")
            #expect(readers.status == 1, "\(readers)")
            #expect(try await machine.authc("doctor").out.contains("AUTHD_LANDLOCK is off"))
        }
    }
}
