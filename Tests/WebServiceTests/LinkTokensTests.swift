import ButtonModel
import Testing

@testable import WebService

@Suite("Links that let a browser in")
struct LinkTokensTests {
    private let start = Instant(nanoseconds: 1_000)

    private func octets(_ octet: Int) -> [UInt8] { [UInt8](repeating: UInt8(octet), count: LinkTokens.length) }

    @Test("a link works once")
    func once() {
        var tokens = LinkTokens()
        let token = tokens.issue(octets(1), at: start)
        #expect(token.utf8.count == 32)
        #expect(tokens.redeem(token, at: start) == true)
        #expect(tokens.redeem(token, at: start) == false)
    }

    @Test("a link works for ten minutes")
    func age() {
        var tokens = LinkTokens()
        let first = tokens.issue(octets(1), at: start)
        let second = tokens.issue(octets(2), at: start)
        #expect(tokens.redeem(first, at: start + LinkTokens.lifetime - .nanoseconds(1)) == true)
        #expect(tokens.redeem(second, at: start + LinkTokens.lifetime) == false)
    }

    @Test("another token lets nobody in", arguments: ["", "00", String(repeating: "0", count: 32), "ü"])
    func foreign(token: String) {
        var tokens = LinkTokens()
        _ = tokens.issue(octets(1), at: start)
        #expect(tokens.redeem(token, at: start) == false)
    }

    @Test("sixteen links can be unused at a time")
    func bound() {
        var tokens = LinkTokens()
        let links = (0...LinkTokens.maximumTokens).map { tokens.issue(octets($0), at: start) }
        let works = links.map { tokens.redeem($0, at: start) }
        #expect(works == [false] + [Bool](repeating: true, count: LinkTokens.maximumTokens))
    }
}
