import AuthWire

/// A program `keyring`: pip and uv find it on the PATH.
struct PipConfiguration {
    let session: SessionName?

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let script = HelperScript("pip", session: session, at: "\(try HelperScript.programFolder())/keyring")
        if !remove, let other = script.other(named: "keyring") {
            throw .usage(
                "there is another program with this name: \(other)",
                hint: "only the first one on the PATH would run: uninstall that program first")
        }
        guard !remove else { return try script.remove(dryRun: dryRun) }
        try script.install(dryRun: dryRun)
        script.noteIfNotOnPath(for: "pip")
        Output.note(
            "  uv needs UV_KEYRING_PROVIDER=subprocess, and pip with --no-input PIP_KEYRING_PROVIDER=subprocess")
    }
}
