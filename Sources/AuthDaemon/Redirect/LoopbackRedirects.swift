import AuthAgent
import AuthConcurrency
package import AuthModel
package import AuthWire
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Listens on loopback addresses for the browser's redirect (RFC 8252 §7.3).
package struct LoopbackRedirects: RedirectListening {
    /// A port of the system's choice may be free on one address and used on the other: another one is tried.
    private static let tries = 5

    private let loop: any EventLoop

    package init(loop: any EventLoop) {
        self.loop = loop
    }

    package func listen(
        at redirect: LoopbackRedirect, as identity: TLSIdentity?
    ) async throws(AgentError) -> any RedirectListener {
        let tls = try identity.map { identity throws(AgentError) in try Self.tls(identity, redirect) }
        var lastError: (any Error)?
        for _ in 0..<(redirect.port == nil ? Self.tries : 1) {
            do {
                return try await open(redirect, tls)
            } catch {
                lastError = error
            }
        }
        let place = redirect.uri(port: nil)
        throw AgentError(
            .conflict,
            "authd cannot receive the redirect at \(place): \(lastError.map { "\($0)" } ?? "no port is free"). "
                + "Stop the program that listens there, or sign in with --paste.", cause: AgentError.redirectPort)
    }

    package func read(
        _ files: TLSIdentityFiles
    ) async throws(TLSIdentityError) -> (certificates: String, key: Secret) {
        let contents = await BlockingThread().complete {
            Result { () throws(TLSIdentityError) in try Self.contents(files) }
        }
        return try contents.get()
    }

    private static func contents(
        _ files: TLSIdentityFiles
    ) throws(TLSIdentityError) -> (certificates: String, key: Secret) {
        do throws(StoreError) {
            // A certificate is public; its key must be private.
            return (try KeyFile.readPublic(files.certificate), try KeyFile.read(files.key))
        } catch {
            if case .failed(let reason) = error { throw TLSIdentityError(reason) }
            throw TLSIdentityError("\(files.key) cannot be read")
        }
    }

    /// A browser may use either address of `localhost`: both must be ours, or another program could receive the code.
    private func open(_ redirect: LoopbackRedirect, _ tls: NIOSSLContext?) async throws -> any RedirectListener {
        let hosts = redirect.host == "localhost" ? ["127.0.0.1", "::1"] : [redirect.host]
        let (visits, arrivals) = AsyncStream<RedirectVisit>.makeStream()
        let admission = RedirectAdmission()
        var channels: [any Channel] = []
        var port = redirect.port ?? 0
        do {
            for host in hosts {
                let channel = try await bootstrap(redirect, tls, admission, arrivals).bind(host: host, port: port).get()
                channels.append(channel)
                port = channel.localAddress?.port ?? port
            }
        } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL && !channels.isEmpty {
            // This machine has no IPv6, so browsers do not use it.
        } catch {
            for channel in channels { channel.close(promise: nil) }
            throw error
        }
        return OpenRedirect(
            redirectURI: redirect.uri(port: port), visits: visits, arrivals: arrivals, channels: channels)
    }

    private func bootstrap(
        _ redirect: LoopbackRedirect, _ tls: NIOSSLContext?, _ admission: RedirectAdmission,
        _ arrivals: AsyncStream<RedirectVisit>.Continuation
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    guard admission.admits(channel) else { return try pipeline.addHandler(ClosingHandler()) }
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try pipeline.addHandler(RedirectHandler(path: redirect.path, arrivals: arrivals))
                }
            }
    }

    private static func tls(
        _ identity: TLSIdentity, _ redirect: LoopbackRedirect
    ) throws(AgentError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificates.utf8))
            let key = try NIOSSLPrivateKey(bytes: identity.key.revealBytes(), format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            // Every current browser supports it (RFC 8996).
            configuration.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw AgentError(
                .validation, "The page at \(redirect.uri(port: nil)) cannot be served over TLS: \(error).",
                cause: "redirect_certificate")
        }
    }
}

private final class OpenRedirect: RedirectListener {
    let redirectURI: String
    let visits: AsyncStream<RedirectVisit>
    private let arrivals: AsyncStream<RedirectVisit>.Continuation
    private let channels: [any Channel]

    init(
        redirectURI: String, visits: AsyncStream<RedirectVisit>, arrivals: AsyncStream<RedirectVisit>.Continuation,
        channels: [any Channel]
    ) {
        self.redirectURI = redirectURI
        self.visits = visits
        self.arrivals = arrivals
        self.channels = channels
    }

    func close() {
        arrivals.finish()
        for channel in channels { channel.close(promise: nil) }
    }
}
