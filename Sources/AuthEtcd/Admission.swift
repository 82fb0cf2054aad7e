import AuthModel
import AuthWire

/// The request of a host to be admitted, in etcd until its lease ends. It proves that the host knows its code.
struct Admission: Sendable, Equatable {
    let host: ClusterHost
    private let proof: [UInt8]

    /// - Parameter cluster: the one that the host has found.
    init(of host: ClusterHost, to cluster: String, with code: AdmissionCode) {
        self.host = host
        proof = code.proof(of: host, in: cluster)
    }

    /// `nil` if the bytes are not a request.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, values: EtcdLimits.jsonValues), let name = json["name"]?.stringValue,
            let key = json["public"]?.stringValue.flatMap(Base64.decode),
            let proof = json["proof"]?.stringValue.flatMap(Base64.decode)
        else { return nil }
        host = ClusterHost(id: HostKey.id(of: key), publicKey: key, name: name)
        self.proof = proof
    }

    var bytes: [UInt8] {
        JSON.object([
            "name": .string(host.name), "public": .string(Base64.encode(host.publicKey)),
            "proof": .string(Base64.encode(proof)),
        ]).serialized()
    }

    func isProved(with code: AdmissionCode, in cluster: String) -> Bool {
        code.isProof(proof, of: host, in: cluster)
    }
}
