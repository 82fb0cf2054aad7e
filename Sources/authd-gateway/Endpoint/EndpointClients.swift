import AuthConcurrency
import AuthFiles
import AuthFront
import AuthGateway
import AuthWire

/// The programs that may use the endpoint. They are read for each request, so a program that was removed gets nothing more.
struct EndpointClients: Sendable {
    private let folder: EndpointFolder
    private let thread = BlockingThread()

    init(_ folder: EndpointFolder) {
        self.folder = folder
    }

    /// The program whose key a request has.
    func client(of head: FrontHead) async throws(FrontProblem) -> (name: ClientName, client: EndpointClient) {
        let keys = await thread.complete { [folder] in Self.keys(in: folder) }
        let name = try EndpointKeys(keys).client(of: head)
        return (name, try await client(named: name))
    }

    /// - Throws: 403 if it was removed.
    func client(named name: ClientName) async throws(FrontProblem) -> EndpointClient {
        let found = await thread.complete { [folder] () -> Result<EndpointClient?, AgentError> in
            // Without its key there is no such program, even if it is requested by its port.
            do throws(AgentError) { _ = try FrontKeyFile.read(folder.keyFile(of: name)) } catch { return .success(nil) }
            do throws(AgentError) { return .success(try folder.client(name)) } catch { return .failure(error) }
        }
        switch found {
        case .success(let client?): return client
        case .success(nil): throw FrontProblem(403, .denied, "The program '\(name)' was removed.")
        case .failure(let error): throw FrontProblem(500, .internal_, error.message)
        }
    }

    /// The programs with a separate port. What cannot be read is reported.
    func metadataPorts(_ report: (String) -> Void) -> [(name: ClientName, port: Int)] {
        let names: [ClientName]
        do throws(SystemFailure) {
            names = try folder.names()
        } catch {
            report("\(error)")
            return []
        }
        return names.compactMap { name in
            do throws(AgentError) {
                _ = try FrontKeyFile.read(folder.keyFile(of: name))
                guard let port = try folder.client(name)?.port else { return nil }
                return (name, port)
            } catch {
                report(error.message)
                return nil
            }
        }
    }

    /// A key that others could read, or that cannot be read, is nobody's.
    private static func keys(in folder: EndpointFolder) -> [(name: ClientName, key: FrontKey)] {
        ((try? folder.names()) ?? []).compactMap { name in
            (try? FrontKeyFile.read(folder.keyFile(of: name))).map { (name, $0) }
        }
    }
}
