import AuthConcurrency
import AuthFiles
import AuthModel
import AuthProcesses
package import AuthWire
import Glibc

/// The user's browser, which xdg-open(1) opens: in a unit of the user's manager if there is one, so that the browser has the
/// variables of the graphical session, and not authd's confinement.
package struct DesktopBrowser: BrowserOpening {
    private static let opener = "xdg-open"

    package init() {}

    package func show(_ url: String) async throws(AgentError) {
        // Anything else could be read as a file or an option.
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw .noBrowserOpened("the address begins with neither https:// nor http://")
        }
        let result = await BlockingThread().run {
            Result { () throws(SystemFailure) in
                try Self.run(url, runtimeFolder: Environment.value("XDG_RUNTIME_DIR"))
            }
        }
        switch result {
        case nil, .success(0): return
        case .success(let status): throw .noBrowserOpened("\(Self.opener) ended with status \(status)")
        case .failure(let error): throw .noBrowserOpened(error.description)
        }
    }

    /// - Returns: its exit status; 128 + n for signal n.
    private static func run(_ url: String, runtimeFolder: String?) throws(SystemFailure) -> Int32 {
        let stdin = unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard stdin >= 0 else { throw SystemFailure("open /dev/null") }
        defer { close(stdin) }
        let command = [opener, url]
        let isUnit = TransientUnit.isPossible(runtimeFolder: runtimeFolder)
        let child = try UserProcess.spawn(
            isUnit ? unit(command) : command, stdin: stdin, separately: .session,
            passing: UserProcess.desktopVariables)
        return ProcessEnd(of: child).shellStatus
    }

    /// As for ``NoticeWindow``.
    static func unit(_ command: [String]) -> [String] {
        TransientUnit.command(
            command,
            options: [
                "--wait", "--slice=app.slice", "--property=KillMode=process", "--property=StandardOutput=null",
                "--property=StandardError=null", "--description=Opened by authd for a sign-in",
            ])
    }
}

extension AgentError {
    fileprivate static func noBrowserOpened(_ reason: String) -> AgentError {
        AgentError(
            .unsupported, "No browser was opened on the machine that lends it: \(reason).", cause: "no_browser")
    }
}
