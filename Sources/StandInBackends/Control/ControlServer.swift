import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The endpoint with which another program controls the stand-ins; on the loopback only.
///
/// `POST /control/BACKEND` has `path, method, times, behaviour`, `token_seconds`, `listening`, `clear`;
/// `GET /control/counts`, `/control/secrets` and `/control/mail` return what was observed.
struct ControlServer: Sendable {
    private let responder: RouterResponder<CallContext>

    init(_ standIns: StandIns) {
        responder = Routes(basePath: "", shape: ControlShape(standIns: standIns)).responder()
    }

    @concurrent func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let context = CallContext(
            source: .init(
                channel: channel, logger: Logger(label: "control", factory: { _ in SwiftLogNoOpLogHandler() })))
        try await Answer(collecting: responder.respond(to: request, context: context)).send(writer)
    }
}

private struct ControlShape: Shape {
    // The stand-ins own the listener, which owns this.
    unowned let standIns: StandIns

    func add(to routes: Routes) {
        routes.get("/control/counts") { _ throws(Refusal) in .json(standIns.counts.json) }
        routes.get("/control/secrets") { _ throws(Refusal) in .json(secrets) }
        routes.get("/control/mail") { _ throws(Refusal) in .json(mail) }
        routes.post("/control/:backend", misbehave)
    }

    func body(of refusal: Refusal) -> Answer {
        .json(
            ["message": .string(([refusal.message] + refusal.details).joined(separator: ": "))],
            status: refusal.status)
    }

    private func misbehave(_ call: Call) async throws(Refusal) -> Answer {
        guard let backend = call.parameters["backend"].flatMap(Backend.init(rawValue:)) else {
            throw .notFound("No such backend")
        }
        let fields = try call.fields(
            [], optional: ["path", "method", "times", "behaviour", "token_seconds", "listening", "clear"])
        if try fields.optionalBool("clear") { standIns.clear(backend) }
        if let seconds = try fields.optionalNumber("token_seconds") {
            await standIns.setTokenLifetime(.seconds(seconds), at: backend)
        }
        if fields.members["behaviour"] != nil {
            await standIns.misbehave(backend, try Misbehaviour(fields))
        }
        if fields.members["listening"] != nil {
            let listening = try fields.optionalBool("listening")
            do {
                try await standIns.setListening(listening, backend)
            } catch {
                throw Refusal(status: 503, message: "The stand-ins are ending", code: nil)
            }
        }
        return .json(["ok": true])
    }

    private var secrets: JSONValue {
        .object(
            Dictionary(
                uniqueKeysWithValues: SecretLog.Kind.allCases.map { kind in
                    ("\(kind.rawValue)s", .array(standIns.secretLog.all(kind).map { .string($0) }))
                }))
    }

    private var mail: JSONValue {
        let letters = standIns.secretLog.mail.map { mail -> JSONValue in
            [
                "backend": .string(mail.backend.rawValue), "email": .string(mail.email),
                "purpose": .string(mail.purpose), "code": .string(mail.code),
            ]
        }
        return ["mail": .array(letters)]
    }
}
