import Foundation

/// A user's account at one backend. The backend's shape decides what it shows.
struct Account: Sendable {
    let id: String
    var email: String
    /// `nil` until one is set, after registration with a code or another identity provider.
    var password: String?
    var firstName: String
    var lastName: String
    var isVerified: Bool
    var authProvider: String
    var outsideID: String?
    var phoneNumber: String?
    var photoURL: String?
    var preferences: JSONValue
    let createdAt: Date
    var updatedAt: Date
    var lastLoginAt: Date?

    init(id: String = UUID().uuidString.lowercased(), email: String, password: String?, name: String = "") {
        self.id = id
        self.email = email
        self.password = password
        (firstName, lastName) = ("", "")
        isVerified = true
        authProvider = "email"
        preferences = [:]
        createdAt = Date()
        updatedAt = createdAt
        rename(name)
    }

    var name: String {
        [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ")
    }

    mutating func rename(_ name: String) {
        let words = name.split(separator: " ", maxSplits: 1)
        firstName = words.first.map(String.init) ?? ""
        lastName = words.count > 1 ? String(words[1]) : ""
    }
}

/// The first account of each backend.
package struct SeedUser: Sendable {
    package var email: String
    package var password: String
    package var name: String

    package init(
        email: String = "ada@example.org", password: String = "Correct-horse1", name: String = "Ada Lovelace"
    ) {
        self.email = email
        self.password = password
        self.name = name
    }
}
