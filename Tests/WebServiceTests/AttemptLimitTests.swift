import ButtonModel
import Testing

@testable import WebService

@Suite("Tries of passwords")
struct AttemptLimitTests {
    private let start = Instant(nanoseconds: 5_000)

    @Test("the sixth try within a minute waits for the first to be a minute old")
    func minute() {
        var limit = AttemptLimit()
        for second in 0..<5 { #expect(limit.admit("192.0.2.1", at: start + .seconds(second)) == nil) }
        #expect(limit.admit("192.0.2.1", at: start + .seconds(10)) == .seconds(50))
        #expect(limit.admit("192.0.2.1", at: start + .seconds(59)) == .seconds(1))
        #expect(limit.admit("192.0.2.1", at: start + .seconds(60)) == nil)
        #expect(limit.admit("192.0.2.1", at: start + .seconds(60)) == .seconds(1))
    }

    @Test("another address is not locked out")
    func addresses() {
        var limit = AttemptLimit()
        for _ in 0..<6 { _ = limit.admit("192.0.2.1", at: start) }
        #expect(limit.admit("192.0.2.2", at: start) == nil)
    }

    @Test("a right password makes the earlier tries count no more")
    func success() {
        var limit = AttemptLimit()
        for _ in 0..<5 { _ = limit.admit("192.0.2.1", at: start) }
        limit.succeeded("192.0.2.1")
        #expect(limit.admit("192.0.2.1", at: start) == nil)
    }

    @Test("the addresses of one network of IPv6 are one")
    func network() {
        var limit = AttemptLimit()
        for host in 0..<5 { #expect(limit.admit("2001:db8:1:2::\(host)", at: start) == nil) }
        #expect(limit.admit("2001:db8:1:2:aaaa::9", at: start) != nil)
        #expect(limit.admit("2001:db8:1:3::1", at: start) == nil)
    }

    @Test("addresses of IPv4 that are written as those of IPv6 are not one network")
    func mapped() {
        var limit = AttemptLimit()
        for _ in 0..<6 { _ = limit.admit("::ffff:192.0.2.1", at: start) }
        #expect(limit.admit("::ffff:192.0.2.2", at: start) == nil)
        #expect(limit.admit("192.0.2.1", at: start) != nil)
    }

    @Test("all addresses together have sixty tries in a minute, whatever addresses a visitor invents")
    func total() {
        var limit = AttemptLimit()
        for number in 0..<60 { #expect(limit.admit("address \(number)", at: start + .milliseconds(number)) == nil) }
        #expect(limit.admit("another", at: start + .seconds(10)) == .seconds(50))
        limit.succeeded("address 0")
        #expect(limit.admit("another", at: start + .seconds(59)) == .seconds(1))
        #expect(limit.admit("another", at: start + .seconds(60)) == nil)
    }
}
