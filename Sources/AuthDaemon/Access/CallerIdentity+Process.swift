import AuthFiles
import AuthModel
import CSystemd
import Glibc

/// Reads who is at the other end of a connection.
///
/// The sockets' thread does that. So nothing is read that the client's file systems answer: those of a FUSE or network file
/// system may never do so. Device and inode of the program come from the kernel, which does not ask the file system.
extension CallerIdentity {
    /// This identity with what can be read about its process. Parts that must not be read stay unknown.
    /// - Parameter end: its connection; `nil` if that is closed.
    /// - Returns: the folder of the process too, if its executable could be read there; `nil` if the process cannot be found or
    ///   has ended, or if something else fails, as for lack of descriptors.
    func completed(
        _ reference: PeerReference, at end: PeerEnd?
    ) -> (identity: CallerIdentity, folder: String?)? {
        // The kernel has no number for a process that is not in our process namespace, or below it.
        guard let end, processID > 0 else { return nil }
        let (process, isOurs) = reference.open(processID, at: end.socket)
        guard process >= 0 else { return nil }
        defer { if isOurs { close(process) } }
        var identity = self
        let folder: String
        do throws(ConfinedClient) {
            identity.label = try end.label()
            identity.isLabelKnown = true
            (folder, _) = try ProcText.folder(of: processID, process: process)
            try identity.readFiles(of: folder)
        } catch {
            return nil
        }
        // What was read belongs to the process that has connected, unless that has ended.
        guard !PeerProcess.hasEnded(process), reference.allows(startTicks: identity.startTicks) else { return nil }
        return (identity, identity.executable == nil ? nil : folder)
    }

    /// Whether the process has become another program (execve(2)). The same file with another content is not noticed, nor a
    /// program that is not dumpable.
    func isOther(in folder: String) -> Bool {
        guard let executable, let found = try? ProcessReader.program(of: folder) else { return false }
        return found.path != executable || found.isPathKnown == isExecutableUncertain
            || found.number.map { $0 != executableFile } ?? false
    }

    private mutating func readFiles(of folder: String) throws(ConfinedClient) {
        if let status = try ProcText.read(folder + "/stat").flatMap(ProcessStatus.init) {
            startTicks = status.startTicks
            terminal = status.terminal
        }
        if let group = try ProcText.read(folder + "/cgroup").flatMap(ControlGroup.init) {
            unit = group.unit
            slice = group.slice
            loginSession = group.loginSession
            isGroupKnown = true
        }
        do throws(SystemFailure) {
            let program = try ProcessReader.program(of: folder)
            (executable, executableFile) = (program?.path, program?.number)
            isExecutableUncertain = program.map { !$0.isPathKnown } ?? false
        } catch {
            throw .failed(error.number)
        }
    }
}
