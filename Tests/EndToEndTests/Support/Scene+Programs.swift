import Foundation
import StandInBackends
import TestSupport
import Testing

extension Scene {
    /// Plays a test in which Ada is signed in to a peer with the sign-in and renewal of `peers/program-server.py`.
    ///
    /// - Parameters:
    ///   - folders: new folders of the desktop that are the peer's arguments. An empty name is passed on.
    ///   - more: more sections of the profile.
    static func play(
        signedInTo program: Peer.Program, _ folders: [String] = [], as name: String = "forge",
        with more: @escaping @Sendable (Peer) async throws -> String = { _ in "" },
        _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await play { scene in
            let arguments = try folders.map { $0.isEmpty ? "" : try scene.desktop.folder.folder($0) }
            try await Peer.running(program, arguments, in: scene.desktop) { server in
                try await scene.addProfile(
                    """
                    name = "\(name)"
                    [environments]
                    local = "\(server.url)"
                    [sign_in.password]
                    fields = [{ name = "email" }, { name = "password", kind = "password" }]
                    request = { method = "POST", path = "/login", body = { email = "{email}", pin = "{password}" } }
                    [reply]
                    user = "/user"
                    access_token = "/access_token"
                    refresh_token = "/refresh_token"
                    expires_in = "/expires_in"
                    [user]
                    id = "/id"
                    email = "/email"
                    [renewal]
                    kind = "refresh"
                    request = { method = "POST", path = "/refresh", body = { refresh_token = "{refresh_token}" } }

                    """ + (try await more(server)))
                let login = try await scene.authc(
                    ["login", name, "--field", "email=ada@example.org", "--password-stdin"], input: "secret")
                #expect(login.status == 0, "\(login.err)")
                try await test(scene, server)
            }
        }
    }

    /// A line of a script with authc on the PATH, a separate home and no prompts of git.
    func run(_ line: String) async throws -> Child.Output {
        let setUp = """
            export HOME=\(desktop.folder.path)/home GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=true no_proxy='*'
            mkdir -p $HOME/bin $HOME/.local/bin; ln -sf $0 $HOME/bin/authc; export PATH=$HOME/bin:$HOME/.local/bin:$PATH
            export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
            export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org; cd $HOME

            """
        return try await shell(setUp + line)
    }

    /// Writes a file in the home from the block of Docs/recipes.md that contains a line, with other names in it.
    func writeRecipe(_ line: String, to file: String, replacing names: [(String, String)]) throws {
        var text = try Recipes.block(with: line)
        for (name, replacement) in names {
            #expect(text.contains(name), "the recipe does not name \(name)")
            text = text.replacingOccurrences(of: name, with: replacement)
        }
        let path = try desktop.folder.write(text, to: "home/" + file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}

/// The blocks of Docs/recipes.md.
enum Recipes {
    static func block(with line: String) throws -> String {
        let page = try SourceTree.text("Docs/recipes.md")
        for match in page.matches(of: /```[a-z]*\n((?:(?!```).*\n)*)```/) {
            let lines = match.1.split(separator: "\n")
            if lines.contains(where: { $0.contains(line) }) { return String(match.1) }
        }
        throw Failure("no recipe has the line \(line)")
    }
}
