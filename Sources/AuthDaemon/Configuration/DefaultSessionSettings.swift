package import AuthAgent
import AuthConcurrency
import AuthFiles
package import AuthModel
import AuthWire
package import Logging

/// Applies the settings that choose a session for requests that name none.
package struct DefaultSessionSettings: Sendable {
    private let board: StateBoard
    private let folders: FolderRulesFile
    private let logger: Logger
    private let disk = BlockingThread()

    package init(board: StateBoard, folders: FolderRulesFile, logger: Logger) {
        self.board = board
        self.folders = folders
        self.logger = logger
    }

    /// Returns when the rules apply to clients. If two calls overlap, the rules of the later one apply.
    package func apply(_ settings: Settings) async {
        board.prefer(settings.defaultSession)
        let failure = await disk.run { [folders] () -> SystemFailure? in
            do throws(SystemFailure) {
                try folders.write(settings.folders)
                return nil
            } catch {
                return error
            }
        }
        if let failure = failure ?? nil { logger.warning("The folder rules are not in effect: \(failure)") }
    }
}
