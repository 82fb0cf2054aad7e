import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthProviders

@Suite("The reader of access rules")
struct PolicyReaderTests {
    static let whole = """
        enforce = true

        [[rule]]
        name = "backup"
        effect = "deny"
        reason = "The backup needs no tokens."
        executable = ["/usr/bin/restic", "/opt/*"]
        unit = "backup.service"
        slice = "app.slice"
        sandbox = ["none", "flatpak"]
        label = "unconfined"
        listener = ["api", "dbus", "limited"]
        terminal = false
        login_session = false
        session = "work-*"
        class = ["token", "act"]
        method = "token.*"
        endpoint = "items.list"
        scope = ["read"]

        [[rule]]
        name = "rest"
        effect = "allow"
        """

    private static func problems(_ text: String) -> [String] {
        let result = Result { () throws(ProfileProblems) in
            try PolicyReader.read(text, from: .user, file: "policy.toml")
        }
        return switch result {
        case .success: []
        case .failure(let failure): failure.problems.map(\.description)
        }
    }

    @Test("reads every key")
    func keys() throws {
        let rules = try PolicyReader.read(Self.whole, from: .user, file: "policy.toml")
        #expect(rules.enforces && rules.rules.map(\.id) == ["user.backup", "user.rest"])
        let item = rules.rules[0].item
        #expect(item.effect == "deny" && item.reason == "The backup needs no tokens.")
        #expect(item.executables == ["/usr/bin/restic", "/opt/*"] && item.units == ["backup.service"])
        #expect(item.slices == ["app.slice"] && item.sandboxes == ["none", "flatpak"] && item.labels == ["unconfined"])
        #expect(item.listeners == ["api", "dbus", "limited"] && item.terminal == false && item.loginSession == false)
        #expect(item.sessions == ["work-*"] && item.classes == ["token", "act"] && item.methods == ["token.*"])
        #expect(item.endpoints == ["items.list"] && item.scopes == ["read"])
        // No key is missing above.
        for key in PolicyReader.ruleKeys { #expect(Self.whole.contains("\n\(key) = "), "\(key)") }
        #expect(rules.rules[1].caller == AccessRule.CallerTest() && rules.rules[1].request == AccessRule.RequestTest())
        #expect(try PolicyReader.read("", from: .root, file: "x") == AccessPolicy.Rules())
    }

    @Test(
        "reports what is wrong, with its line",
        arguments: [
            ("enforce = \"yes\"", "1: enforce"), ("enforced = true", "enforce (is that meant?)"),
            ("[[rule]]\neffect = \"deny\"", "rule[0].name"), ("[[rule]]\nname = \"a\"", "rule[0].effect"),
            ("[[rule]]\nname = \"a\"\neffect = \"may\"", "3: rule[0].effect"),
            ("[[rule]]\nname = \"A b\"\neffect = \"deny\"", "2: rule[0].name"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nunits = \"x\"", "unit (is that meant?)"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nunit = []", "4: rule[0].unit"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nunit = [1]", "rule[0].unit[0]"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nexecutable = \"curl\"", "an absolute path"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nsandbox = \"unknown\"", "rule[0].sandbox"),
            (
                "[[rule]]\nname = \"a\"\neffect = \"deny\"\nlistener = \"TCP\"",
                "api, extra, dbus or the FileDescriptorName="
            ),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nclass = \"tokens\"", "rule[0].class"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nmethod = \"token.gets\"", "a method of the protocol"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nterminal = 1", "rule[0].terminal"),
            ("[[rule]]\nname = \"a\"\neffect = \"deny\"\nreason = \"a\\nb\"", "one line"),
            (
                "[[rule]]\nname = \"a\"\neffect = \"deny\"\n[[rule]]\nname = \"a\"\neffect = \"allow\"",
                "a name that no other rule has"
            ),
            ("rule = 3", "a list of tables"), ("[rule]\nname = \"a\"", "a list of tables"), ("[[rule]", "policy.toml"),
        ])
    func wrong(text: String, words: String) {
        let problems = Self.problems(text)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test("hostile files are refused whole, in short messages")
    func hostile() {
        let many = String(repeating: "[[rule]]\nname = \"a\"\neffect = \"deny\"\n", count: PolicyReader.mostRules + 1)
        let long = "[[rule]]\nname = \"a\"\neffect = \"deny\"\nunit = \"\(String(repeating: "x", count: 513))\""
        let stars = "[[rule]]\nname = \"a\"\neffect = \"deny\"\nunit = \"\(String(repeating: "*", count: 9))\""
        let values = "[[rule]]\nname = \"a\"\neffect = \"deny\"\nunit = [\(String(repeating: "\"x\",", count: 65))]"
        let deep = "a = " + String(repeating: "[", count: 20_000)
        let big = "# " + String(repeating: "x", count: 300_000)
        for text in [many, long, stars, values, deep, big, "a\u{0}b", "\"\u{1B}[2J\" = 1"] {
            let problems = Self.problems(text)
            #expect(!problems.isEmpty && problems.allSatisfy { $0.utf8.count < 2000 }, "\(problems)")
            #expect(problems.allSatisfy { !$0.contains("\u{1B}") })
        }
    }

    @Test("authd-policy(5) has every key, and its examples are rules")
    func page() throws {
        let page = try ManPage("authd-policy.5")
        #expect(page.tags["[[rule]]"] == PolicyReader.ruleKeys)
        #expect(page.tags["TOP LEVEL"] == ["enforce", "rule"])
        let defaults = (page.tags["BUILT-IN RULES"] ?? []).filter { $0.hasPrefix("default.") }
        #expect(defaults == AccessPolicy.defaults.map(\.id) + [AccessPolicy.rest.id])
        #expect(page.examples.count == 3)
        for example in page.examples {
            #expect(try !PolicyReader.read(example, from: .user, file: "example").rules.isEmpty)
        }
    }

    @Test("root's file must belong to its owner, who alone may change it")
    func owner() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("enforce = true\n", to: "policy.toml")
        func read(_ owner: UInt32) -> String? {
            return switch Result(catching: { () throws(ProfileProblems) in try PolicyFile.root(path, owner: owner) }) {
            case .success(let rules): rules.enforces ? nil : "not read"
            case .failure(let failure): failure.problems.first?.expected
            }
        }
        #expect(chmod(path, 0o644) == 0 && read(geteuid()) == nil)
        #expect(read(geteuid() + 1)?.contains("owned by user") == true)
        for mode in [0o664, 0o646] as [mode_t] {
            #expect(chmod(path, mode) == 0 && read(geteuid())?.contains("cannot change") == true)
        }
        // For others root is the owner.
        if geteuid() != 0 {
            #expect(chmod(path, 0o644) == 0)
            let failure = #expect(throws: ProfileProblems.self) { try PolicyFile.root(path) }
            #expect(failure?.problems.first?.expected == "a file owned by root")
        }
        #expect(try PolicyFile.root(folder.path + "/none") == AccessPolicy.Rules())
        #expect(symlink("/dev/zero", folder.path + "/device") == 0)
        #expect(throws: ProfileProblems.self) { try PolicyFile.root(folder.path + "/device", owner: geteuid()) }
    }
}
