import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Settings of etcd")
struct EtcdSettingsTests {
    @Test("are read")
    func whole() throws {
        let settings = try SettingsReader.read(
            """
            store = "etcd"
            [etcd]
            endpoints = [
                "https://one.example:2379", "https://[2001:db8::1]:2379/", "http://127.0.0.1:2379",
                "https://one.example:2379/",
            ]
            ca_file = "/etc/ca.pem"
            certificate_file = "/etc/client.pem"
            key_file = "/home/ada/client.key"
            user = "ada"
            password_file = "/home/ada/password"
            prefix = "/authd/ada"
            """, source: "authd.toml")
        let etcd = try #require(settings.etcd)
        #expect(settings.store == .etcd)
        #expect(
            etcd.endpoints == ["https://one.example:2379", "https://[2001:db8::1]:2379", "http://127.0.0.1:2379"])
        #expect(etcd.caFile == "/etc/ca.pem" && etcd.certificateFile == "/etc/client.pem")
        #expect(etcd.keyFile == "/home/ada/client.key" && etcd.passwordFile == "/home/ada/password")
        #expect(etcd.user == "ada" && etcd.prefix == "/authd/ada")
        #expect(EtcdSettings.standardPrefix(userID: 1000) == "/authd/1000")
    }

    @Test(
        "are refused with their key if they are wrong",
        arguments: [
            ("[etcd]", "etcd.endpoints"), ("etcd.endpoints = []", "etcd.endpoints"),
            // A password must not go to another machine in clear text.
            (#"etcd.endpoints = ["http://etcd.example:2379"]"#, "etcd.endpoints[0]"),
            (#"etcd.endpoints = ["https://a:1", "etcd.example"]"#, "etcd.endpoints[1]"),
            (#"etcd.endpoints = ["https://a:1/v3"]"#, "etcd.endpoints[0]"),
            ("[etcd]\nendpoints = [\"https://a:1\"]\ncertificate_file = \"/a\"", "etcd.key_file"),
            ("[etcd]\nendpoints = [\"https://a:1\"]\npassword_file = \"/a\"", "etcd.user"),
            ("[etcd]\nendpoints = [\"https://a:1\"]\nprefix = \"authd/ada\"", "etcd.prefix"),
            ("[etcd]\nendpoints = [\"https://a:1\"]\nprefix = \"/authd/\"", "etcd.prefix"),
            ("[etcd]\nendpoints = [\"https://a:1\"]\nprefx = \"/a\"", "etcd.prefx"),
        ])
    func mistakes(_ text: String, _ key: String) {
        let failure = #expect(throws: ProfileProblems.self) { try SettingsReader.read(text, source: "authd.toml") }
        #expect(failure?.problems.map(\.key) == [key])
    }
}
