package import ButtonModel
import Bytes
import Cryptography
import Glibc
import JSON
import Platform
package import Settings
import Synchronization

/// Who is signed in, and who may sign in. Holds the values that decide, and the file that keeps them over a restart.
package final class SignIn: Sendable {
    private struct State: ~Copyable {
        var sessions: SessionTable
        var links = LinkTokens()
        var attempts = AttemptLimit()
    }

    package enum PasswordOutcome: Hashable, Sendable {
        /// The value of the session's cookie.
        case signedIn(String)
        case wrong
        case lockedOut(Duration)
        /// There is no password.
        case impossible
    }

    private let state: Mutex<State>
    private let path: String
    private let password: PasswordHash?
    private let salt: [UInt8]
    /// The key of etags, which must not tell anything about passwords in files.
    package let fileKey: [UInt8]

    /// Reads the file of an earlier run. Its sessions are kept if the password is the same.
    ///
    /// - Returns: `nil` without memory for scrypt.
    package init?(password: Password?, stateDirectory: String, at now: UTCTime) {
        path = stateDirectory + "/web.json"
        let file = (try? FileText(reading: path)).flatMap { try? JSONValue(parsing: $0.octets) } ?? .null
        let newKey = SystemEnvironment.randomOctets(Digest.length)
        let newSalt = SystemEnvironment.randomOctets(PasswordHash.saltLength)
        let octets: (String) -> [UInt8]? = { file[$0]?.stringValue.flatMap { [UInt8](hex: $0) } }
        fileKey = octets("key").flatMap { $0.count == newKey.count ? $0 : nil } ?? newKey
        salt = octets("salt").flatMap { $0.count == newSalt.count ? $0 : nil } ?? newSalt
        var isSame = file["password"] == .null || file["password"] == nil
        if let password {
            guard let hash = PasswordHash(of: password.value, salt: salt) else { return nil }
            self.password = hash
            isSame = file["password"]?.stringValue == hash.mark
        } else {
            self.password = nil
        }
        state = Mutex(State(sessions: isSame ? SessionTable(file["sessions"] ?? .null, at: now) : SessionTable()))
        save()
    }

    package var hasPassword: Bool { password != nil }

    package func session(of cookie: String, at now: UTCTime) -> SessionTable.ID? {
        state.withLock { $0.sessions.session(of: cookie, at: now) }
    }

    /// - Returns: the token of a new link.
    package func issueLink(at now: Instant) -> String {
        state.withLock { $0.links.issue(SystemEnvironment.randomOctets(LinkTokens.length), at: now) }
    }

    /// - Returns: the value of the session's cookie; `nil` if the token cannot be used.
    package func redeem(_ token: String, at now: Instant, _ wallClock: UTCTime) -> String? {
        guard state.withLock({ $0.links.redeem(token, at: now) }) else { return nil }
        return begin(at: wallClock)
    }

    /// How long an address has to wait before its next try; `nil` if the try is counted and may go on.
    package func admit(_ address: String, at now: Instant) -> Duration? {
        state.withLock { $0.attempts.admit(address, at: now) }
    }

    /// Compares a password of an admitted try. Computes for some tenths of a second.
    package func signIn(_ text: String, from address: String, at now: UTCTime) -> PasswordOutcome {
        guard let password else { return .impossible }
        guard password.matches(text) else { return .wrong }
        state.withLock { $0.attempts.succeeded(address) }
        return .signedIn(begin(at: now))
    }

    package func end(_ session: SessionTable.ID) {
        state.withLock { $0.sessions.end(session) }
        save()
    }

    private func begin(at now: UTCTime) -> String {
        let token = SystemEnvironment.randomOctets(SessionTable.tokenLength)
        let cookie = state.withLock { $0.sessions.begin(token, at: now) }
        save()
        return cookie
    }

    /// Without a file that can be written, sessions end with the program.
    private func save() {
        SystemEnvironment.makeDirectory(SystemEnvironment.directory(of: path))
        state.withLock { state in
            let value: JSONValue = [
                "key": .string(fileKey.hex), "salt": .string(salt.hex),
                "password": password.map { .string($0.mark) } ?? .null, "sessions": state.sessions.json,
            ]
            _ = FileText.write(value.encoded(), to: path)
        }
    }
}
