import AuthWire
import Testing

struct RuntimeFolderTests {
    private func folder(_ value: String?) -> RuntimeFolder? {
        RuntimeFolder { $0 == "XDG_RUNTIME_DIR" ? value : nil }
    }

    @Test("the variable names the folder, with or without a slash at its end")
    func named() {
        #expect(folder("/run/user/7")?.path == "/run/user/7" && folder("/run/user/7/")?.path == "/run/user/7")
    }

    @Test("without an absolute path it is the folder of the login session", arguments: [nil, "", "run/user/7"])
    func login(value: String?) {
        #expect(folder(value) == nil)
        #expect(RuntimeFolder(environment: { _ in value }, userID: 1000).path == "/run/user/1000")
        #expect(RuntimeFolder(environment: { _ in "/r" }, userID: 1000).path == "/r")
    }

    @Test("each kind of socket has a folder")
    func sockets() {
        let folder = RuntimeFolder(ofLogin: 7)
        #expect(folder.socket(of: .agent) == "/run/user/7/authd/socket")
        #expect(folder.socket(of: .extra) == "/run/user/7/authd-extra/socket")
        #expect(folder.socket(of: .endpoint) == "/run/user/7/authd-http/socket")
        #expect(folder.socket(of: .proxies, named: "work") == "/run/user/7/authd-proxy/work")
    }
}
