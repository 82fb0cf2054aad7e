import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import NIOPosix

/// `authd-gateway aws`: prints credentials of a role as the `credential_process` of a profile does, and ends.
struct AWSProgram: Sendable {
    let arguments: AWSArguments

    /// Ends the process.
    func run() async -> Never {
        await GatewayProcess.end { () async throws(GatewayMistake) in
            let output = LineWriter()
            output.write(try await credentials().processJSON.serialized())
            guard await output.flush(within: .seconds(1)) else {
                throw GatewayMistake(text: "cannot write to standard output", status: 70)
            }
        }
    }

    private func credentials() async throws(GatewayMistake) -> AWSCredentials {
        let transport = try GatewayProcess.transport(
            MultiThreadedEventLoopGroup(numberOfThreads: 1), connectionsPerOrigin: 1)
        let exchange = CredentialExchange(
            agent: try EndpointProgram.agent(socket: arguments.socket), transport: transport)
        let result: Result<AWSCredentials, FrontProblem>
        do throws(FrontProblem) {
            result = .success(try await exchange.credentials(for: arguments.identity))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        switch result {
        case .success(let credentials): return credentials
        case .failure(let problem): throw GatewayMistake(text: problem.detail, status: problem.exitStatus)
        }
    }
}
