import AuthFiles
import AuthProcesses
import Glibc

/// A program with a window on the user's desktop. It runs in a unit of the user's manager if there is one: then it has
/// the variables of the graphical session, and not authd's confinement. It keeps running when authd ends.
struct DesktopProcess {
    let command: [String]
    /// The description of the unit (systemd.unit(5)).
    let description: String
    /// Additional environment variables.
    var values: [(name: String, value: String)] = []

    /// Returns the exit status when the program has ended; 128 + n for signal n.
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

    /// The unit gets the manager's variables, such as DISPLAY. With `KillMode=process`, a browser that the program has
    /// started keeps running. The output is kept out of the journal.
    var unit: [String] {
        TransientUnit.command(
            command,
            options: [
                "--wait", "--slice=app.slice", "--property=KillMode=process", "--property=StandardOutput=null",
                "--property=StandardError=null", "--description=\(description)",
            ] + values.map { "--setenv=\($0.name)=\($0.value)" })
    }
}
