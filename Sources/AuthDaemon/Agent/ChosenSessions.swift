package import AuthCore
import AuthWire
package import Logging

/// Puts into effect what the settings say of which session is meant where none is named.
package struct ChosenSessions: Sendable {
    private let board: StateBoard
    private let folders: FolderRulesFile
    private let logger: Logger

    package init(board: StateBoard, folders: FolderRulesFile, logger: Logger) {
        self.board = board
        self.folders = folders
        self.logger = logger
    }

    package func take(_ settings: Settings) {
        board.prefer(settings.defaultSession)
        do throws(SystemFailure) {
            try folders.write(settings.folders)
        } catch {
            logger.warning("The folder rules are not in effect: \(error)")
        }
    }
}
