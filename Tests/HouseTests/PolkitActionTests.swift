import Foundation
import Testing

/// org.authd.policy, which polkit reads.
@Suite("The actions of polkit")
struct PolkitActionTests {
    private func text() throws -> String {
        try #require(ProjectFiles.file("Sources/Packaging/polkit/org.authd.policy")).text
    }

    @Test("are those that authd asks for, each with texts; the user authenticates each time")
    func defaults() throws {
        let actions = try text().split(separator: "<action id=\"").dropFirst()
        let source = try #require(ProjectFiles.file("Sources/AuthModel/Access/PresenceAction.swift"))
        let cases = source.text.components(separatedBy: "polkitAction")[0].split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /\ +case ([a-z]+)/).map { "org.authd.\($0.1)" }
        }
        #expect(actions.map { $0.prefix { $0 != "\"" } }.map(String.init) == cases && cases.count == 4)
        for action in actions {
            for place in ["any", "inactive", "active"] {
                #expect(action.contains("<allow_\(place)>auth_self</allow_\(place)>"))
            }
            #expect(action.contains("<description>") && action.contains("<message>"))
        }
        #expect(try !text().contains("_keep<"))
    }

    @Test("the one for exports is true of a changed passphrase and of another host, too")
    func exports() throws {
        let actions = try text().split(separator: "<action id=\"")
        let export = try #require(actions.first { $0.hasPrefix("org.authd.export") })
        #expect(export.contains("in a form that can be opened elsewhere, or a change of what opens them."))
    }
}
