package import AuthGateway
package import NIOCore

/// What answers the requests of a front.
package protocol FrontService: Sendable {
    /// Called on the event loop of the connection.
    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange
}

/// One request and its response. Everything is called on the event loop of its connection.
package protocol FrontExchange: AnyObject {
    /// A piece of the request's body. The client is not read until the future ends; an error ends the connection.
    func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void>
    /// The whole body has been received.
    func endBody()
    /// The connection has ended before the response. It is also called if it ends while the last bytes are sent.
    func abandon()
}

/// A whole response.
package struct FrontResponse: Sendable {
    package var status: Int
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    package init(_ problem: FrontProblem) {
        self.init(status: problem.status, fields: problem.fields, body: problem.body)
    }
}

/// A service that needs no bodies of requests and sends whole responses.
package struct WholeResponses: FrontService {
    private let respond: @Sendable (FrontRequest) async -> FrontResponse

    package init(_ respond: @escaping @Sendable (FrontRequest) async -> FrontResponse) {
        self.respond = respond
    }

    package func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        let exchange = Exchange(connection.eventLoop)
        let sending = NIOLoopBound((connection, exchange), eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask { [respond] in await respond(request) }.whenSuccess { response in
            let (connection, exchange) = sending.value
            if !exchange.isAbandoned { connection.respond(response) }
        }
        return exchange
    }

    private final class Exchange: FrontExchange {
        private let loop: any EventLoop
        private(set) var isAbandoned = false

        init(_ loop: any EventLoop) {
            self.loop = loop
        }

        func receive(_ piece: ByteBuffer) -> EventLoopFuture<Void> { loop.makeSucceededVoidFuture() }
        func endBody() {}
        func abandon() { isAbandoned = true }
    }
}
