import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("The session if none is named", .serialized)
struct ChosenSessionTests {
    @Test("-s, then $AUTHD_SESSION, then the folder's rule, then the user's choice, the settings' and the first")
    func order() async throws {
        try await Scene.play { scene in
            let settings = try String(contentsOfFile: scene.settingsPath, encoding: .utf8)
            for session in ["first", "second", "third"] {
                let login = try await scene.shell(
                    "echo Correct-horse1 | $0 login app-template -s \(session) --environment local "
                        + "--field email=ada@example.org --password-stdin")
                #expect(login.status == 0, "\(login.err)")
            }
            #expect(try await scene.meant() == "first")

            let work = try scene.desktop.folder.folder("home/work")
            try FileManager.default.createSymbolicLink(
                atPath: scene.desktop.folder.path + "/home/link", withDestinationPath: work)
            try scene.write(
                settings: "default_session = \"second\"\n" + settings + """

                    [[folder]]
                    path = "~/link/"
                    session = "third"
                    """)
            let reloaded = try await scene.ask("agent.reload", [:])
            #expect(reloaded["message"]?.stringValue?.contains("default session is second") == true)
            #expect(try await scene.meant() == "second")
            #expect(try await scene.meant("cd \(work) &&") == "third")
            #expect(try await scene.meant("mkdir -p \(work)/deep && cd \(work)/deep &&") == "third")
            #expect(try await scene.meant("cd \(work) && export AUTHD_SESSION=first &&") == "first")
            let named = try await scene.shell("cd \(work) && AUTHD_SESSION=first $0 token -s second")
            #expect(try await named.out == scene.agent.authc("token", "-s", "second").out)
            // A separate program that is gone from its folder asks for the default.
            #expect(try await scene.meant("cd $(mktemp -d -p \(work)) && rmdir $PWD &&") == "second")

            #expect(try await scene.agent.authc("use", "first").status == 0)
            #expect(try await scene.meant() == "first")

            try await scene.agent.child.end()
            try await scene.startAgent()
            #expect(try await scene.meant() == "first")
            #expect(try await scene.meant("cd \(work) &&") == "third")
            try scene.write(settings: settings)
            _ = try await scene.ask("agent.reload", [:])
            #expect(try await scene.meant("cd \(work) &&") == "first")
        }
    }

    @Test("a rule for a missing session is an error, and no other session is used")
    func absentSession() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let settings = try String(contentsOfFile: scene.settingsPath, encoding: .utf8)
            try scene.write(settings: settings + "\n[[folder]]\npath = \"/\"\nsession = \"absent\"\n")
            _ = try await scene.ask("agent.reload", [:])
            let refused = try await scene.agent.authc("token")
            #expect(refused.status == 64 && refused.out.isEmpty)
            #expect(refused.err.contains("absent"), "\(refused.err)")
            #expect(try await scene.agent.authc("token", "-s", "app-template").status == 0)
        }
    }
}

extension Scene {
    fileprivate var settingsPath: String { desktop.folder.path + "/config/authd/authd.toml" }

    fileprivate func write(settings: String) throws {
        _ = try desktop.folder.write(settings, to: "config/authd/authd.toml")
    }

    /// The session whose status comes without a name.
    fileprivate func meant(_ setup: String = "") async throws -> String? {
        let status = try await shell("\(setup) $0 status --json")
        return try JSON(parsing: Array(status.out.utf8))["session"]?.stringValue
    }
}
