import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Settings")
struct SettingsReaderTests {
    private func problems(_ text: String) -> [ProfileProblem] {
        if case .failure(let failure) = ReadingResult.settings(text, source: "authd.toml") {
            failure.problems
        } else {
            []
        }
    }

    @Test("an empty file sets nothing")
    func empty() throws {
        #expect(try SettingsReader.read("", source: "authd.toml") == Settings())
    }

    @Test("all settings are read")
    func whole() throws {
        let settings = try SettingsReader.read(
            """
            store = "memory"
            socket = "/run/user/1000/other/socket"
            log_level = "debug"
            allowed_user_ids = [0, 1001]
            default_session = "work"

            [http]
            proxy = "http://proxy.example:3128"
            no_proxy = ["localhost", ".example.org"]
            ca_file = "/etc/ssl/own.pem"
            connect_timeout = "500ms"
            request_timeout = "20s"
            total_timeout = "2m"

            [providers.envelope]
            default_environment = "mine"
            [providers.envelope.environments]
            mine = "https://api.example.org/api/"

            [[folder]]
            path = "~/work/"
            session = "work"
            [[folder]]
            path = "/srv"
            session = "server"

            [[hook]]
            on = "session.renewed"
            command = ["/usr/bin/one", "two"]
            """, source: "authd.toml"
        )
        #expect(settings.store == .memory)
        #expect(settings.socket == "/run/user/1000/other/socket")
        #expect(settings.logLevel == "debug")
        #expect(settings.allowedUserIDs == [0, 1001])
        #expect(settings.defaultSession?.text == "work")
        #expect(settings.http.proxy == "http://proxy.example:3128")
        #expect(settings.http.noProxy == ["localhost", ".example.org"])
        #expect(settings.http.caFile == "/etc/ssl/own.pem")
        #expect(settings.http.connectTimeout == .milliseconds(500))
        #expect(settings.http.requestTimeout == .seconds(20))
        #expect(settings.http.totalTimeout == .seconds(120))
        let added = try #require(settings.environments["envelope"]?.first)
        #expect(added.value == ProviderEnvironment(name: "mine", baseURL: "https://api.example.org/api"))
        #expect(added.line == 18)
        #expect(settings.defaultEnvironments["envelope"]?.value == "mine")
        #expect(settings.folders.map(\.path) == ["~/work", "/srv"])
        #expect(settings.folders.map(\.session.text) == ["work", "server"])
        #expect(settings.hooks == [Hook(on: .renewed, command: ["/usr/bin/one", "two"])])
    }

    @Test("the rules of the extra socket are read; without them nothing is allowed")
    func listener() throws {
        let rules = try SettingsReader.read(
            """
            [listener.extra]
            listen = true
            socket = "/run/user/1000/box/socket"
            sessions = ["work", "home"]
            classes = ["status", "act"]
            methods = ["token.get"]
            endpoints = ["me"]
            scopes = ["read"]
            audiences = ["https://api.example.org"]
            sign_in_providers = ["corp"]
            sign_in_scopes = []
            """, source: "authd.toml"
        ).listeners[.extra]
        #expect(rules.listens)
        #expect(rules.socket == "/run/user/1000/box/socket")
        #expect(Set(rules.sessions.map(\.text)) == ["work", "home"])
        #expect(rules.classes == [.status, .act])
        #expect(rules.methods == ["token.get"])
        #expect(rules.endpoints == ["me"])
        #expect(rules.scopes == ["read"])
        #expect(rules.audiences == ["https://api.example.org"])
        #expect(rules.signInProviders == ["corp"] && rules.signInScopes == [])
        let none = try SettingsReader.read("[listener.extra]\n[listener.box]", source: "authd.toml").listeners
        #expect(none == ListenerTables())
        #expect(!none[.extra].allows("session.list", .status))
    }

    @Test("each named socket has its own rules")
    func namedListeners() throws {
        let tables = try SettingsReader.read(
            """
            [listener.box]
            sessions = ["work"]
            classes = ["status"]
            [listener.tool-2]
            methods = ["token.get"]
            scopes = ["read"]
            """, source: "authd.toml"
        ).listeners
        #expect(tables.names.map(\.rawValue) == ["box", "tool-2"])
        let (box, tool) = (tables[tables.names[0]], tables[tables.names[1]])
        #expect(box.sessions.map(\.text) == ["work"] && box.classes == [.status] && box.methods.isEmpty)
        #expect(tool.methods == ["token.get"] && tool.scopes == ["read"] && tool.sessions.isEmpty)
        #expect(tables[.extra] == ListenerRules() && tables[.api] == ListenerRules())
    }

    @Test(
        "each mistake is reported with its key and what was expected",
        arguments: [
            (#"store = "plain""#, "store", "secret-service, sealed-file, etcd, memory"),
            (#"sealed_key = "key""#, "sealed_key", "credential, passphrase or the absolute path"),
            (#"socket = "here""#, "socket", "an absolute path"), (#"log_level = "loud""#, "log_level", "one of trace"),
            (#"log_level = "debgu""#, "log_level", "error, critical (did you mean debug?)"),
            (#"prompt.format = "{sesion}""#, "prompt.format", "for braces (did you mean {session}?)"),
            (#"prompt.format = "{session}{:usr}""#, "prompt.format", "for braces (did you mean {user}?)"),
            ("allowed_user_ids = [-1]", "allowed_user_ids[0]", "a user's number"),
            ("allowed_user_ids = [0, 4294967295]", "allowed_user_ids[1]", "a user's number"),
            ("allowed_user_ids = 0", "allowed_user_ids", "a list"), ("stor = 1", "stor", "store (is that meant?)"),
            (#"default_session = "My Work""#, "default_session", "a session's name"),
            (#"http.proxy = "proxy:3128""#, "http.proxy", "http://HOST:PORT"),
            (#"http.request_timeout = "30""#, "http.request_timeout", "30s"),
            (#"http.request_timeout = "0s""#, "http.request_timeout", "100ms"),
            (#"http.request_timeout = "99999999999999999999m""#, "http.request_timeout", "60m"),
            ("http.request_timeout = 30", "http.request_timeout", "a text"),
            (#"http.ca_file = "own.pem""#, "http.ca_file", "an absolute path"),
            (#"providers.x.environments.y = "example.org""#, "providers.x.environments.y", "an absolute URL"),
            (#"providers.x.environments."Y Z" = "https://example.org""#, #"providers.x.environments."Y Z""#, "name"),
            (
                #"providers.x.enviroments.y = "https://e.org""#, "providers.x.enviroments",
                "environments (is that meant?)"
            ),
            (#"folder = [{ path = "work", session = "w" }]"#, "folder[0].path", "an absolute path"),
            (#"folder = [{ path = "/work" }]"#, "folder[0].session", "a session's name"),
            (#"folder = [{ session = "w" }]"#, "folder[0].path", "an absolute path"),
            ("listener.Other = {}", "listener.Other", "FileDescriptorName="),
            ("listener.api = {}", "listener.api", "extra"),
            (#"listener."b x" = {}"#, #"listener."b x""#, "1 to 32 of a-z"),
            ("listener.box = 1", "listener.box", "a table"),
            ("listener.box.listen = true", "listener.box.listen", "sessions"),
            (#"listener.box.classes = ["admin"]"#, "listener.box.classes[0]", "status, token, act"),
            ("listener.extra.listn = true", "listener.extra.listn", "listen (is that meant?)"),
            (#"listener.extra.socket = "here""#, "listener.extra.socket", "an absolute path"),
            (#"listener.extra.sessions = ["a", "My Work"]"#, "listener.extra.sessions[1]", "a session's name"),
            (#"listener.extra.classes = ["admin"]"#, "listener.extra.classes[0]", "status, token, act"),
            (#"listener.extra.methods = ["session.export"]"#, "listener.extra.methods[0]", "one of api.call"),
            (#"listener.extra.methods = ["token.get"]"#, "listener.extra.methods", "scopes or audiences"),
            (#"listener.extra.sign_in_scopes = ["a"]"#, "listener.extra.sign_in_scopes", "sign_in_providers"),
            (#"hook = [{ on = "renewed", command = ["/x"] }]"#, "hook[0].on", "session.renewed"),
            (#"hook = [{ command = ["/x"] }]"#, "hook[0].on", "one of session.added"),
            (#"hook = [{ on = "session.added", command = ["x"] }]"#, "hook[0].command", "the absolute path"),
            (#"hook = [{ on = "session.added", command = [] }]"#, "hook[0].command", "the absolute path"),
            (#"hook = [{ on = "session.added", command = ["/x"], user = "a" }]"#, "hook[0].user", "on"),
        ])
    func mistakes(_ text: String, _ key: String, _ expected: String) throws {
        let problem = try #require(problems("\n" + text).first)
        #expect(problem.key == key)
        #expect(problem.line == 2)
        #expect(problem.expected.contains(expected), "\(problem)")
    }

    @Test(
        "an empty text is named as what was found",
        arguments: ["store", "sealed_key", "log_level", "default_session", "http.ca_file", "http.total_timeout"])
    func emptyText(key: String) throws {
        let problem = try #require(problems("\(key) = \"\"").first)
        #expect("\(problem)".hasPrefix("authd.toml:1: \(key): expected "))
        #expect("\(problem)".hasSuffix(", found an empty text"), "\(problem)")
    }
}
