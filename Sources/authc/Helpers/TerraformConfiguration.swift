import AuthWire

/// A line of Terraform's configuration, and a program with the name that Terraform looks for in its folder of plugins.
struct TerraformConfiguration {
    private static let block = "credentials_helper"
    private static let label = "authd"
    private static let line = "\(block) \"\(label)\" {}"

    let session: SessionName?

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let script = HelperScript(
            "terraform", session: session,
            at: try HelperScript.home() + "/.terraform.d/plugins/terraform-credentials-\(Self.label)")
        var text = try ConfigurationText(
            path: try ConfigurationFile.path(in: "TF_CLI_CONFIG_FILE", else: ".terraformrc"))
        let change = ConfigurationChange(line: Self.line, isRemoval: remove)
        guard !remove else {
            let own = text.lines.indices.filter { ConfigurationText.content(of: text.lines[$0]) == Self.line }
            text.remove(Set(own))
            guard !text.lines.contains(where: { Self.label(of: $0) == Self.label }) else {
                throw .usage("remove \(text.path)'s block \(Self.block) \"\(Self.label)\" first: it names the program")
            }
            if own.isEmpty {
                Output.note("\(text.path) does not name \(Self.label)")
            } else {
                try text.write(change, dryRun: dryRun)
                Output.note("\(Self.line) removed from \(text.path)")
            }
            return try script.remove(dryRun: dryRun)
        }
        let present = text.lines.first { Self.label(of: $0) != nil }
        if let present, Self.label(of: present) != Self.label {
            // Terraform accepts one.
            throw .usage("\(text.path) has another helper: \(Visible.line(present))", hint: "remove it first")
        }
        try script.install(dryRun: dryRun)
        if present == nil {
            text.append(Self.line)
            try text.write(change, dryRun: dryRun)
        }
        Output.note("\(Self.line) \(present == nil ? "added to" : "is in") \(text.path)")
    }

    /// The label of a block that begins on this line; `nil` for other lines.
    private static func label(of line: String) -> String? {
        let content = ConfigurationText.content(of: line)
        guard content.hasPrefix(block) else { return nil }
        let rest = content.dropFirst(block.count)
        guard rest.first.map(isSeparator) ?? true else { return nil }
        return rest.split(whereSeparator: isSeparator).first.map(String.init) ?? ""
    }

    private static func isSeparator(_ character: Character) -> Bool { " \t\"{".contains(character) }
}
