import JSON
import Testing

@testable import CommandSupport
@testable import CommandText
@testable import DaemonCommands
@testable import Platform
@testable import Setup

@Suite("Pairing")
struct PairingGuideTests {
    static let ok: JSONValue = ["status": "ok", "data": .object([])]

    static func step(_ word: JSONValue) -> JSONValue { ["kind": "pairing", "step": word] }

    static func permitJoin(_ seconds: Int64) -> PairingGuide.Effect {
        .send(["request": "permit_join", "data": ["time": .integer(seconds)]])
    }

    /// A guide whose search has begun.
    static func joining(all: Bool = false) -> PairingGuide {
        var guide = PairingGuide(seconds: 60, pairsAll: all)
        #expect(guide.handle(.connected) == [.send(["request": "watch"])])
        #expect(guide.handle(.received(ok)) == [permitJoin(60)])
        #expect(guide.handle(.received(ok)) == [])
        return guide
    }

    @Test("the search ends with the first button")
    func first() {
        var guide = Self.joining()
        #expect(guide.handle(.received(Self.step("searching"))) == [.show(Self.step("searching"))])
        #expect(guide.handle(.received(Self.step("paired"))) == [.show(Self.step("paired")), Self.permitJoin(0)])
        #expect(guide.handle(.received(Self.step("ended"))) == [])
        #expect(guide.handle(.received(Self.ok)) == [.finish])
    }

    @Test("with --all it goes on until the time is over")
    func all() {
        var guide = Self.joining(all: true)
        #expect(guide.handle(.received(Self.step("paired"))) == [.show(Self.step("paired"))])
        #expect(guide.handle(.received(Self.step("ended"))) == [.finish])
    }

    @Test("a failure is shown and the search goes on; without a button the answer is no")
    func failure() {
        var guide = Self.joining()
        let failed: JSONValue = [
            "kind": "pairing", "step": "failed", "reason": "connect_failed", "advice": "Try again.",
        ]
        #expect(guide.handle(.received(failed)) == [.show(failed)])
        #expect(guide.handle(.received(Self.step("ended"))) == [.fail(.silent(.negativeResult))])
    }

    @Test("an end without any word gives its own advice")
    func silence() {
        var guide = Self.joining()
        guard case .fail(let failure) = guide.handle(.received(Self.step("ended"))).first else {
            Issue.record("no failure")
            return
        }
        #expect(failure.status == .negativeResult)
        #expect(failure.sentence.contains("7 seconds"))
    }

    @Test("Ctrl-C stops the search before it ends")
    func interrupted() {
        var guide = Self.joining()
        #expect(guide.handle(.interrupted) == [Self.permitJoin(0)])
        #expect(guide.handle(.received(Self.ok)) == [.fail(.silent(.negativeResult))])
    }

    @Test("a second Ctrl-C does not wait for the daemon")
    func interruptedTwice() {
        var guide = Self.joining()
        #expect(guide.handle(.interrupted) == [Self.permitJoin(0)])
        #expect(guide.handle(.interrupted) == [.fail(.silent(.negativeResult))])
    }

    @Test("what the daemon refuses is its sentence")
    func refused() {
        var guide = PairingGuide(seconds: 60, pairsAll: false)
        _ = guide.handle(.connected)
        _ = guide.handle(.received(Self.ok))
        let no: JSONValue = ["status": "error", "error": "there is no Bluetooth"]
        #expect(guide.handle(.received(no)) == [.fail(Failure(.unavailable, "there is no Bluetooth"))])
        #expect(guide.handle(.received(Self.step("ended"))) == [])
    }

    @Test("the end of another client's search is ignored")
    func foreignSearch() {
        var guide = PairingGuide(seconds: 60, pairsAll: false)
        _ = guide.handle(.connected)
        #expect(guide.handle(.received(Self.step("ended"))) == [])
    }

    @Test(
        "each step says what to do",
        arguments: [
            (
                #"{"step":"searching"}"#,
                "Looking for new buttons. Hold the button down for 7 seconds, until its light changes."
            ),
            (
                #"{"step":"found_private","address":"A"}"#,
                "A is in range, but not in pairing mode. Hold it down for 7 seconds."
            ),
            (#"{"step":"already_paired","address":"A"}"#, "A is paired already. Still looking for others."),
            (
                #"{"step":"paired","button":"hall","serial":"BA00-A00001","battery_mv":2950,"firmware":11}"#,
                "✓ hall is paired: BA00-A00001, 2.95 V, firmware 11"
            ),
            (
                #"{"step":"failed","reason":"connect_failed","advice":"Bring it nearer."}"#,
                "✗ Bring it nearer. (connect_failed)"
            ),
        ])
    func text(json: String, expected: String) throws {
        let line = PairingText.line(try JSONValue(parsing: json), style: .plain)
        #expect(line?.rendered(.plain) == expected)
    }
}
