import AuthWire
import CommandArguments

extension Policy {
    struct Test: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Report which rule decides about a request, and why.",
            usage: "authc policy test [<options>] <method>",
            discussion: """
                The program is this one, unless options describe another: then what they leave out is unknown, and a rule \
                that tests it denies. Exit status: 77 if the rule denies, even if rules are not enforced.
                """)

        @OptionGroup var common: CommonOptions

        @Option(help: ArgumentHelp("The path of the program.", valueName: "path"), completion: .file)
        var asExecutable: String?

        @Option(help: ArgumentHelp("The program's systemd unit.", valueName: "unit"), completion: .nothing)
        var asUnit: String?

        @Option(help: ArgumentHelp("The program's slice.", valueName: "slice"), completion: .nothing)
        var asSlice: String?

        @Option(
            help: ArgumentHelp("The kind of sandbox.", valueName: "kind"),
            completion: .list(sandboxes), transform: sandboxWord)
        var asSandbox: String?

        @Option(help: ArgumentHelp("The program's security label.", valueName: "label"), completion: .nothing)
        var asLabel: String?

        @Option(
            help: ArgumentHelp("Where it connects.", valueName: "listener"),
            completion: .listeners)
        var asListener: String?

        @Flag(help: "The program has a terminal.")
        var asTerminal = false

        @Flag(help: "The program belongs to a login session.")
        var asLoginSession = false

        @Option(help: ArgumentHelp("The endpoint of api.call.", valueName: "endpoint"), completion: .endpoints)
        var endpoint: String?

        @Option(help: ArgumentHelp("A requested scope; repeatable.", valueName: "scope"), completion: .scopes)
        var scope: [String] = []

        @Option(help: ArgumentHelp("The requested audience.", valueName: "uri"), completion: .nothing)
        var audience: String?

        @Flag(help: "The call has `next`, the address of another page.")
        var next = false

        @Argument(
            help: "The method, such as token.get.", completion: .live { _ in AgentMethods.all.map { $0.name } })
        var method: String?

        func validate() throws(ValidationError) {
            guard method != nil else { throw ValidationError("Name a method, such as token.get.") }
        }

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let method = method ?? ""
            guard AgentMethods.named(method) != nil else {
                let names = AgentMethods.all.map { $0.name }
                throw .usage(
                    "there is no method '\(Visible.line(method))'", hint: NameAdvice.meant(method, among: names))
            }
            guard !next || method == APICall.name else {
                throw .usage("--next belongs to \(APICall.name)", hint: "only calls of an endpoint have other pages")
            }
            var params = PolicyTest(
                method: method, session: try options.namedSession(), endpoint: endpoint,
                scopes: scope.isEmpty ? nil : scope)
            (params.executable, params.unit, params.slice) = (asExecutable, asUnit, asSlice)
            (params.sandbox, params.label, params.listener) = (asSandbox, asLabel, asListener)
            (params.audience, params.next) = (audience, next ? true : nil)
            if asTerminal { params.terminal = true }
            if asLoginSession { params.loginSession = true }
            let agent = try options.connect()
            if let endpoint { try Self.check(endpoint, of: params.session, agent) }
            if let asListener { try Self.check(listener: asListener, agent) }
            let (verdict, json) = try agent.call(params)
            if options.json {
                try Output.json(json)
            } else {
                try Output.text(PolicyText.verdict(verdict))
            }
            return verdict.allowed ? .done : .denied
        }

        /// Refuses the name of an endpoint that is probably misspelt. Any other name may be that of another provider's
        /// endpoint.
        private static func check(_ name: String, of session: SessionName?, _ agent: Agent) throws(Failure) {
            guard let detail = try? EndpointInfo.provider(of: session, agent) else { return }
            let known = detail.endpoints.map(\.name)
            guard !known.contains(name), let hint = NameAdvice.meant(name, among: known) else { return }
            throw Failure(
                status: ExitStatus(.unknownEndpoint), kind: ErrorKind.unknownEndpoint.rawValue,
                message: "\(detail.name) has no endpoint named \(Visible.line(name))", hint: hint)
        }

        /// Refuses a name that is probably misspelt. Any other unknown name is only reported, because rules may name
        /// listeners that do not exist yet.
        private static func check(listener name: String, _ agent: Agent) throws(Failure) {
            let known = KnownNames.listeners(agent)
            guard !known.contains(name) else { return }
            let message = "there is no listener '\(Visible.line(name))'"
            if let hint = NameAdvice.meant(name, among: known) { throw .usage(message, hint: hint) }
            Output.note("\(message) yet; the listeners are \(known.map { Visible.line($0) }.joined(separator: ", "))")
        }
    }
}

private let sandboxes = ["none", "process-namespace", "user-namespace", "flatpak", "snap"]

private func sandboxWord(_ text: String) throws(ValidationError) -> String { try word(text, of: sandboxes) }

private func word(_ text: String, of known: [String]) throws(ValidationError) -> String {
    guard known.contains(text) else { throw ValidationError(NameAdvice.refusal(of: text, known)) }
    return text
}
