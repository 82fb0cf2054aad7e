import AuthFiles
import AuthProcesses
import Glibc

/// A program with a window on the user's desktop: in a unit of the user's manager if there is one, so that it has the variables
/// of the graphical session, and not authd's confinement. It stays when authd ends.
struct DesktopProcess {
    let command: [String]
    /// What the manager calls the unit.
    let description: String
    /// Further variables.
    var values: [(name: String, value: String)] = []

    /// Returns when it has ended, with its exit status; 128 + n for signal n.
    func run(runtimeFolder: String?) throws(SystemFailure) -> Int32 {
        let stdin = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard stdin >= 0 else { throw SystemFailure("open /dev/null") }
        defer { close(stdin) }
        let isUnit = TransientUnit.isPossible(runtimeFolder: runtimeFolder)
        let child = try UserProcess.spawn(
            isUnit ? unit : command, stdin: stdin, separately: .session, passing: UserProcess.desktopVariables,
            with: values)
        return ProcessEnd(of: child).shellStatus
    }

    /// The variables of the unit are the manager's, such as DISPLAY. `KillMode=process` keeps a browser that was
    /// started from it. Its output is not for the journal.
    var unit: [String] {
        TransientUnit.command(
            command,
            options: [
                "--wait", "--slice=app.slice", "--property=KillMode=process", "--property=StandardOutput=null",
                "--property=StandardError=null", "--description=\(description)",
            ] + values.map { "--setenv=\($0.name)=\($0.value)" })
    }
}
