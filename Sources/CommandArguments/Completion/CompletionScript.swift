/// The completion script of a program.
///
/// A script has a table of the commands (``CompletionTable``), and functions that find the command and what can be at
/// the cursor. Options are offered after a hyphen, or if nothing else can follow; an option that is already on the line
/// is offered again only if it can be repeated. For some values, the script asks the program (``CompletionRequest``).
package enum CompletionScript {
    /// The scripts of earlier versions, which a shell may still have loaded, set it to the name of their shell.
    package static let shellVariable = "SAP_SHELL"

    /// - Parameter leading: one name of each option that the program also accepts before the command.
    package static func text(
        for shell: CompletionShell, root: any ParsableCommand.Type, leading: [String] = []
    ) -> String {
        let table = CompletionTable(root: root, leading: leading)
        return switch shell {
        case .zsh: ZshScript.text(table)
        case .bash: BashScript.text(table)
        case .fish: FishScript.text(table)
        }
    }
}
