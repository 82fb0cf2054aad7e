import AuthConcurrency
import AuthFiles
import AuthModel
package import AuthWire

/// The user's browser, which xdg-open(1) opens.
package struct DesktopBrowser: BrowserOpening {
    private static let opener = "xdg-open"

    package init() {}

    package func show(_ url: String) async throws(AgentError) {
        // Anything else could be read as a file or an option.
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw .noBrowserOpened("the address begins with neither https:// nor http://")
        }
        let process = DesktopProcess(command: [Self.opener, url], description: "Opened by authd for a sign-in")
        let result = await BlockingThread().run {
            Result { () throws(SystemFailure) in
                try process.run(runtimeFolder: Environment.value("XDG_RUNTIME_DIR"))
            }
        }
        switch result {
        case nil, .success(0): return
        case .success(let status): throw .noBrowserOpened("\(Self.opener) ended with status \(status)")
        case .failure(let error): throw .noBrowserOpened(error.description)
        }
    }
}

extension AgentError {
    fileprivate static func noBrowserOpened(_ reason: String) -> AgentError {
        AgentError(
            .internal_, "No browser was opened on the machine that lends it: \(reason).",
            cause: AgentError.noBrowserCause)
    }
}
