import ButtonModel
import DiskTestSupport
import Settings
import Testing

@testable import WebService

@Suite("Signing in")
struct SignInTests {
    private let directory = TemporaryDirectory()
    private let now = UTCTime(milliseconds: 1_800_000_000_000)
    private let instant = Instant(nanoseconds: 0)

    private func signIn(_ password: String?) throws -> SignIn {
        try #require(SignIn(password: password.map { Password($0) }, stateDirectory: directory.path, at: now))
    }

    @Test("a session survives a restart with the same password, and ends with another one")
    func restart() throws {
        let first = try signIn("hunter2")
        guard case .signedIn(let cookie) = first.signIn("hunter2", from: "a", at: now) else {
            Issue.record("not signed in")
            return
        }
        let again = try signIn("hunter2")
        #expect(again.session(of: cookie, at: now) != nil)
        #expect(again.fileKey == first.fileKey)
        #expect(try signIn("hunter3").session(of: cookie, at: now) == nil)
        #expect(try signIn("hunter2").session(of: cookie, at: now) == nil)
    }

    @Test("the file has neither the password nor a cookie, and only its owner reads it")
    func file() throws {
        guard case .signedIn(let cookie) = try signIn("hunter2").signIn("hunter2", from: "a", at: now) else {
            Issue.record("not signed in")
            return
        }
        let text = String(decoding: readFile(directory.path + "/web.json"), as: UTF8.self)
        #expect(!text.contains("hunter2") && !text.contains(cookie))
        #expect(mode(of: directory.path + "/web.json") == 0o600)
    }

    @Test("a wrong password, and any without a password, sign nobody in")
    func wrong() throws {
        #expect(try signIn("hunter2").signIn("hunter", from: "a", at: now) == .wrong)
        #expect(try signIn(nil).signIn("", from: "a", at: now) == .impossible)
    }

    @Test("a link signs in once, and its session ends when it signs out, for good")
    func link() throws {
        let desk = try signIn(nil)
        let token = desk.issueLink(at: instant)
        let cookie = try #require(desk.redeem(token, at: instant, now))
        #expect(desk.redeem(token, at: instant, now) == nil)
        desk.end(try #require(desk.session(of: cookie, at: now)))
        #expect(desk.session(of: cookie, at: now) == nil)
        #expect(try signIn(nil).session(of: cookie, at: now) == nil)
    }

    @Test("a damaged file is a new one", arguments: ["", "{", "[]", #"{"key":"00","salt":1,"sessions":{}}"#])
    func damaged(text: String) throws {
        writeFile(directory.path + "/web.json", text.utf8)
        let desk = try signIn("hunter2")
        #expect(desk.signIn("hunter2", from: "a", at: now) != .wrong)
    }
}
