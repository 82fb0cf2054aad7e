import AuthWire

/// A public key on an elliptic curve, as a JSON Web Key (RFC 7518 §6.2.1).
enum EllipticCurveKey {
    /// Bytes of a coordinate.
    private static let lengths = ["P-256": 32, "P-384": 48, "P-521": 66]

    /// Pads the coordinates to full length (§6.2.1.2): some servers omit leading zeros. Other keys are returned unchanged.
    static func whole(_ key: JSON) -> JSON {
        guard var members = key.objectValue, members["kty"] == "EC",
            let length = members["crv"]?.stringValue.flatMap({ lengths[$0] })
        else { return key }
        for name in ["x", "y"] {
            let bytes = members[name]?.stringValue.flatMap { Base64URL.decode($0.utf8) }
            guard let bytes, bytes.count < length else { continue }
            members[name] = .string(Base64URL.encode([UInt8](repeating: 0, count: length - bytes.count) + bytes))
        }
        return .object(members)
    }
}
