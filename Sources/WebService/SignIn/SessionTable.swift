package import ButtonModel
import Bytes
import Cryptography
package import JSON

/// The browsers that have signed in. A session is recognised by the digest of its token, so the tokens cannot be
/// derived from a file with the table.
package struct SessionTable: Hashable, Sendable {
    package struct ID: Hashable, Sendable {
        fileprivate let digest: [UInt8]
    }

    /// The octets of a token.
    package static let tokenLength = 32
    /// How long a session lasts.
    package static let lifetime = Duration.seconds(30 * 24 * 3600)
    /// The most sessions. The one that ends first makes room for another.
    package static let maximumSessions = 100

    private struct Session: Hashable {
        var id: ID
        var end: UTCTime
    }

    private var sessions: [Session] = []

    package init() {}

    /// Begins a session.
    ///
    /// - Parameter token: random octets.
    /// - Returns: the value of the cookie.
    package mutating func begin(_ token: [UInt8], at now: UTCTime) -> String {
        sessions.removeAll { $0.end <= now }
        if sessions.count >= Self.maximumSessions,
            let first = sessions.indices.min(by: { sessions[$0].end < sessions[$1].end })
        {
            sessions.remove(at: first)
        }
        sessions.append(Session(id: ID(digest: Digest.sha256(token)), end: now + Self.lifetime))
        return token.hex
    }

    /// The session of a cookie; `nil` if there is none, or if it has ended.
    package func session(of cookie: String, at now: UTCTime) -> ID? {
        guard cookie.utf8.count == 2 * Self.tokenLength, let token = [UInt8](hex: cookie) else { return nil }
        let digest = Digest.sha256(token)
        return sessions.first { $0.end > now && Digest.isEqualInConstantTime($0.id.digest, digest) }?.id
    }

    package mutating func end(_ id: ID) { sessions.removeAll { $0.id == id } }

    // MARK: The file

    /// The table for a file that survives a restart.
    package var json: JSONValue {
        .array(sessions.map { ["digest": .string($0.id.digest.hex), "end": .integer($0.end.milliseconds)] })
    }

    /// Reads the table of a file. Whatever is no session in it is left out.
    package init(_ json: JSONValue, at now: UTCTime) {
        for entry in json.arrayValue ?? [] {
            guard let digest = entry["digest"]?.stringValue.flatMap({ [UInt8](hex: $0) }),
                digest.count == Digest.length, let end = entry["end"]?.integerValue
            else { continue }
            let session = Session(id: ID(digest: digest), end: UTCTime(milliseconds: end))
            if session.end > now, session.end <= now + Self.lifetime, sessions.count < Self.maximumSessions {
                sessions.append(session)
            }
        }
    }
}
