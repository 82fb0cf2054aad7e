package import AuthModel
package import AuthWire

/// One attempt to send a request to the server, from the question for a token to the end of the response.
package struct CallID: Sendable, Hashable {
    package let number: Int

    package init(_ number: Int) {
        self.number = number
    }
}

package enum BridgeEvent: Sendable {
    /// From the program.
    case line(BridgeLines.Line)
    case inputEnded
    /// A signal, or the program reads no more.
    case stop
    case token(CallID, TokenOutcome)
    /// Without the body.
    case head(CallID, HTTPResponse)
    case piece(CallID, [UInt8])
    /// `nil`: the whole response has been received.
    case ended(CallID, TransportError?)
    case wake
}

package enum BridgeAction: Sendable {
    /// One message for the program, without a line break.
    case write([UInt8])
    /// For standard error.
    case note(String)
    case token(CallID, TokenQuestion)
    case send(CallID, HTTPRequest)
    /// Nothing more of this call is needed. If it does not linger, its connection is closed at once, which cancels the request
    /// in the stateless protocol.
    case release(CallID, lingers: Bool)
    case pauseInput
    case resumeInput
    case exit
}

/// What a request needs a token for.
package struct TokenQuestion: Sendable {
    package let method: String
    package let url: String
    /// The token that the server refused with a 401.
    package var refused: BridgeToken?
    /// The nonce that the server wants in a proof (RFC 9449 §8).
    package var nonce: String?
}

package enum TokenOutcome: Sendable {
    case token(BridgeToken)
    /// No session belongs to the URL. The request is sent without a token; if the server wants one, this is why there is none.
    case none(BridgeProblem)
    case failed(BridgeProblem)
}

/// An access token for one request.
package struct BridgeToken: Sendable {
    package let secret: Secret
    package let isBound: Bool
    /// If it is bound to a key (RFC 9449).
    package let proof: Secret?
    package let session: SessionName
    package let provider: String
    package let scopes: [String]

    package init(
        _ secret: Secret, isBound: Bool = false, proof: Secret? = nil, session: SessionName, provider: String,
        scopes: [String] = []
    ) {
        self.secret = secret
        self.isBound = isBound
        self.proof = proof
        self.session = session
        self.provider = provider
        self.scopes = scopes
    }
}
