import AuthFiles
import AuthModel
import AuthWire
import Glibc

/// The methods of the objects.
extension BusService {
    private static let introspectable = "org.freedesktop.DBus.Introspectable"

    /// By name, with its interface and the signature of its arguments. No two interfaces have a method of the same name.
    private static let methods: [String: (interface: String, signature: String)] = [
        "Introspect": (introspectable, ""), "Get": (properties, "ss"), "GetAll": (properties, "s"),
        "Set": (properties, "ssv"), "GetManagedObjects": (manager, ""),
        "GetToken": (BusView.sessionInterface, "a{sv}"), "Refresh": (BusView.sessionInterface, ""),
        "SignOut": (BusView.sessionInterface, "a{sv}"),
    ]

    func answer(_ call: BusMessage, from client: BusClient) {
        guard client.isRunning else { return fail(call, .senderChanged) }
        let (member, path) = (call.member ?? "", call.path ?? "")
        guard let method = Self.methods[member], method.interface == call.interface ?? method.interface else {
            return fail(call, standard: "UnknownMethod", "There is no method \(call.interface ?? "").\(member).")
        }
        guard call.signature == method.signature else {
            return fail(
                call, standard: "InvalidArgs",
                "\(member) takes arguments of the signature '\(method.signature)', not '\(call.signature ?? "")'.")
        }
        switch member {
        case "Introspect":
            see(call, client) { [self] view in
                guard let text = BusIntrospection.text(of: path, in: view) else { return unknown(path, call) }
                link?.reply(to: call) { $0.append("s", text) }
            }
        case "GetManagedObjects":
            guard path == BusPath.agent else { return unknown(path, call) }
            see(call, client) { [self] view in link?.reply(to: call) { Self.append(view, to: $0) } }
        case "Get", "GetAll": read(call, at: path, for: client)
        case "Set": fail(call, standard: "PropertyReadOnly", "The properties of \(path) cannot be set.")
        default:
            guard let session = BusPath.session(at: path) else { return unknown(path, call) }
            act(member, call, on: session, for: client)
        }
    }

    private func fail(_ call: BusMessage, standard name: String, _ text: String) {
        link?.fail(call, "org.freedesktop.DBus.Error." + name, text)
    }

    private func unknown(_ path: String, _ call: BusMessage) {
        fail(call, standard: "UnknownObject", "There is no such object: \(path).")
    }

    private func unreadable(_ call: BusMessage) {
        fail(call, standard: "InvalidArgs", "The arguments cannot be read: they are malformed or too large.")
    }

    // MARK: Properties

    /// Lists the sessions for the client, which receives signals of changes from now on.
    private func see(_ call: BusMessage, _ client: BusClient, then body: @escaping (BusView) -> Void) {
        client.perform(SessionListGet.name, [:]) { [weak self] result in
            guard let self else { return }
            if case .failure(let error) = result { return fail(call, error) }
            let view = view(for: client)
            // Signals of earlier changes come first.
            report(view, to: client)
            client.sent = view
            body(view)
        }
    }

    /// Without the agent: a manager lists only objects below it.
    private static func append(_ view: BusView, to reply: BusMessage) {
        reply.within("a", "{oa{sa{sv}}}") {
            for (name, properties) in view.sessions.sorted(by: { $0.key < $1.key }) {
                reply.within("e", "oa{sa{sv}}") {
                    reply.append("o", BusPath.session(name))
                    reply.append(interface: BusView.sessionInterface, properties)
                }
            }
        }
    }

    private func read(_ call: BusMessage, at path: String, for client: BusClient) {
        let interface = call.readString() ?? ""
        let name = call.member == "Get" ? call.readString() ?? "" : nil
        guard call.failure == 0 else { return unreadable(call) }
        see(call, client) { [self] view in
            guard let (known, properties) = view.properties(at: path) else { return unknown(path, call) }
            guard interface == known || interface.isEmpty else {
                // The standard interfaces have no properties.
                guard name == nil, interface.hasPrefix("org.freedesktop.DBus.") else {
                    return fail(call, standard: "UnknownInterface", "\(path) has no interface \(interface).")
                }
                link?.reply(to: call) { $0.append([]) }
                return
            }
            guard let name else {
                link?.reply(to: call) { $0.append(properties) }
                return
            }
            guard let value = properties.first(where: { $0.key == name })?.value else {
                return fail(call, standard: "UnknownProperty", "\(known) has no property \(name).")
            }
            link?.reply(to: call) { $0.appendVariant(value) }
        }
    }

    // MARK: Sessions

    private func act(_ member: String, _ call: BusMessage, on session: SessionName, for client: BusClient) {
        guard var params = options(of: call) else { return }
        params["session"] = .string(session.text)
        switch member {
        case "GetToken":
            client.perform(TokenGet.name, params) { [weak self] result in
                switch result {
                case .success(let json): self?.give(json, for: call)
                case .failure(let error): self?.fail(call, error)
                }
            }
        case "Refresh": perform(SessionRefresh.name, params, call, client)
        default: perform(SessionLogout.name, params, call, client)
        }
    }

    /// A method without a result.
    private func perform(_ method: String, _ params: JSONObject, _ call: BusMessage, _ client: BusClient) {
        client.perform(method, params) { [weak self] result in
            if case .failure(let error) = result {
                self?.fail(call, error)
            } else {
                self?.link?.reply(to: call) { _ in }
            }
        }
    }

    /// The params of the protocol's method, with the same names.
    private func options(of call: BusMessage) -> JSONObject? {
        var params = JSONObject()
        guard call.signature == "a{sv}" else { return params }
        var wrong: String?
        call.readTable { key, signature in
            guard let value = call.readJSON(signature) else {
                wrong = "The option \(key.quotable) has the type '\(signature)', which no option has."
                return false
            }
            params[key] = value
            return true
        }
        if call.failure != 0 {
            unreadable(call)
        } else if let wrong {
            fail(call, standard: "InvalidArgs", wrong)
        } else {
            return params
        }
        return nil
    }

    private func give(_ json: JSON, for call: BusMessage) {
        do throws(AgentError) {
            let token = try TokenResult(json)
            let descriptor: CInt
            do throws(SystemFailure) {
                descriptor = try TokenPipe.holding(token.accessToken)
            } catch {
                throw .internalError("The token was not passed on: \(error).")
            }
            defer { close(descriptor) }
            link?.reply(to: call) { reply in
                reply.append(descriptor: descriptor)
                reply.append(Self.details(of: token))
            }
        } catch {
            fail(call, error)
        }
    }

    /// What is not known is left out.
    private static func details(of token: TokenResult) -> [BusValue.Entry] {
        var details = [
            BusValue.Entry(key: "token_type", value: .string(token.tokenType)),
            BusValue.Entry(key: "session", value: .string(token.session.text)),
        ]
        if let end = token.expiresAt.flatMap({ Int64(exactly: $0.rounded(.down)) }) {
            details.append(.init(key: "expires_at", value: .integer(end)))
        }
        if let valid = token.valid { details.append(.init(key: "valid_ms", value: .integer(valid.wholeMilliseconds))) }
        return details
    }
}
