package import AuthEtcd
import AuthHTTP
package import AuthModel
import AuthSealedFile
import Foundation
import AuthWire
import NIOPosix
package import TestSupport

/// One host of a test: its folder, its key, and stores on them, as at starts of the agent.
package struct EtcdHost: Sendable {
    package let name: String
    /// With this host's own key, sealed.
    package let folder: TemporaryFolder
    package var prefix = "/authd/ada"
    package var user: EtcdUser?
    package var certificates: EtcdCertificates?
    /// Its certificate has a common name.
    package var isNamed = false
    package var checkInterval = Duration.seconds(30)
    package var presence = PresenceTimes()
    /// How wrong its date is.
    package var clockError = Duration.zero
    /// What its store waits with.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0, clock: .suspending) }
    package let losses = Losses()

    package init(_ name: String = "one") throws {
        self.name = name
        folder = try TemporaryFolder(syncs: false)
    }

    package static let sealingKey = "0123456789abcdef0123456789abcdef"

    /// A start of the agent, with its watch, and its end.
    package func start<Value: Sendable>(
        at endpoints: [String], watches: Bool = true, _ body: (EtcdStore) async throws -> Value
    ) async throws -> Value {
        let transport = try AsyncHTTPTransport(transportConfiguration, group: MultiThreadedEventLoopGroup.singleton)
        let local = SealedFileStore(
            folder: DurableFolder(path: folder.path + "/cluster"),
            source: .given(name: "the test's key", read: { Secret(Self.sealingKey) }), limit: .seconds(60))
        var configuration = EtcdStore.Configuration(
            endpoints: endpoints, prefix: prefix, user: user, hostName: name)
        configuration.checkInterval = checkInterval
        configuration.presence = presence
        let store = EtcdStore(
            configuration, local: local, transport: LossyTransport(transport: transport, losses: losses),
            clock: HostClock(error: clockError), pause: pause)
        let result: Result<Value, any Error> = await withTaskGroup(of: Void.self) { group in
            if watches { group.addTask { await store.run() } }
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(store))
            } catch {
                result = .failure(error)
            }
            group.cancelAll()
            return result
        }
        await local.close()
        await transport.shutdown()
        return try result.get()
    }

    private var transportConfiguration: AsyncHTTPTransport.Configuration {
        get throws {
            var configuration = AsyncHTTPTransport.Configuration(
                version: "1", proxy: "none", extraCAFile: certificates?.authority)
            configuration.limits.connect = .seconds(2)
            configuration.offersHTTP2 = false
            configuration.trustsOnlyExtraCA = certificates != nil
            if let certificates {
                configuration.identity = ClientCertificate(
                    certificates: try String(
                        contentsOfFile: isNamed ? certificates.namedCertificate : certificates.clientCertificate,
                        encoding: .utf8),
                    key: Secret(
                        try String(
                            contentsOfFile: isNamed ? certificates.namedKey : certificates.clientKey, encoding: .utf8)),
                    setting: "test")
            }
            return configuration
        }
    }
}

/// A record with tokens that can be searched for.
package func etcdSample(
    _ session: String = "work", generation: UInt64 = 1, padding: Int = 0
) throws -> SessionRecord {
    SessionRecord(
        session: try SessionName(session), provider: "app-template", environment: "production", method: "password",
        tokens: TokenSet(
            accessToken: Secret("access-\(session)-\(generation)" + String(repeating: "x", count: padding)),
            refreshToken: Secret("refresh-\(session)-\(generation)"),
            issuedAt: WallTime(unixSeconds: 1_800_000_000), expiresAt: WallTime(unixSeconds: 1_800_003_600)),
        user: UserSummary(email: "ada@example.org"), rawUser: nil, signedInAt: WallTime(unixSeconds: 1_799_999_999),
        signIn: SignInID("s1-2"), generation: generation)
}

extension EtcdStore {
    /// The fault that a call ends with; `nil` if it succeeds.
    package func fault(of call: (EtcdStore) async throws(StoreError) -> Void) async -> ClusterFault? {
        do throws(StoreError) {
            try await call(self)
            return nil
        } catch {
            if case .cluster(let fault) = error { return fault }
            return .invalid(reason: "\(error)")
        }
    }
}

extension AsyncStream {
    /// Reads until an element meets the condition; `nil` if the stream ends before.
    package func first(where condition: (Element) -> Bool) async -> Element? {
        for await element in self where condition(element) { return element }
        return nil
    }
}
