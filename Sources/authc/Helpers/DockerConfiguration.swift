import AuthFiles
import AuthWire

/// `credHelpers` of docker's configuration, and a program with the name that docker looks for (docker login(1)).
struct DockerConfiguration {
    let server: Substring
    let session: SessionName?

    /// docker names registries without a scheme.
    private var registry: String { String(server.drop { $0 != "/" }.dropFirst(2)) }
    private var helper: String { "authd" + (session.map { "-\($0)" } ?? "") }
    private var line: String { "credHelpers: \"\(registry)\": \"\(helper)\"" }

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let file = ConfigurationFile(
            path: try ConfigurationFile.path("config.json", in: "DOCKER_CONFIG", else: ".docker"))
        let folder = try HelperScript.programFolder()
        let script = HelperScript("docker", session: session, at: "\(folder)/docker-credential-\(helper)")
        let former = try configuration(in: file)
        let present = former["credHelpers"]?[registry]?.stringValue
        if let present, present != helper {
            throw .usage(
                "\(file.path) has another helper for \(registry): docker-credential-\(Visible.line(present))",
                hint: remove && present.hasPrefix("authd-")
                    ? "name its session: -s \(Visible.line(String(present.dropFirst("authd-".count))))"
                    : "remove it first")
        }
        guard !remove else {
            guard present != nil else { return Output.note("\(file.path) does not name \(helper) for \(registry)") }
            try write(nil, in: former, to: file, dryRun: dryRun)
            Output.note("\(line) removed from \(file.path)")
            // Another registry may use it.
            let helpers = former["credHelpers"]?.objectValue ?? JSONObject()
            let others = helpers.keys.filter { $0 != registry }
            guard !others.contains(where: { helpers[$0]?.stringValue == helper }) else {
                return Output.note("\(script.path) is still in use, and was not removed")
            }
            return try script.remove(dryRun: dryRun)
        }
        try script.install(dryRun: dryRun)
        if present == nil { try write(helper, in: former, to: file, dryRun: dryRun) }
        Output.note("\(line) \(present == nil ? "added to" : "is in") \(file.path)")
        script.noteIfNotOnPath(for: "docker")
    }

    private func configuration(in file: ConfigurationFile) throws(Failure) -> JSONObject {
        let bytes = try file.read()
        guard !bytes.isEmpty else { return JSONObject() }
        guard case .object(let object)? = try? JSON(parsing: bytes) else {
            throw .usage("\(file.path) is not a JSON object, and was not changed")
        }
        return object
    }

    /// - Parameter helper: `nil` to remove it.
    private func write(
        _ helper: String?, in former: JSONObject, to file: ConfigurationFile, dryRun: Bool
    ) throws(Failure) {
        var helpers = former["credHelpers"]?.objectValue ?? JSONObject()
        helpers[registry] = helper.map(JSON.string)
        var object = former
        object["credHelpers"] = helpers.isEmpty ? nil : .object(helpers)
        try file.replace(
            with: Array((JSON.object(object).text(pretty: true) + "\n").utf8),
            change: ConfigurationChange(line: line, isRemoval: helper == nil), dryRun: dryRun)
    }
}
