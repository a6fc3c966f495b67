import JSON
import Testing

@testable import CommandSupport
@testable import DaemonCommands
@testable import Setup

@Suite("tryck button … firmware")
struct FirmwareGuideTests {
    static func line(_ state: String, percentage: Int64? = nil, id: String = "1") -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("kind", "firmware"), .init("id", .string(id)), .init("state", .string(state)),
        ]
        if let percentage { members.append(.init("percentage", .integer(percentage))) }
        return .object(members)
    }

    static let ok: JSONValue = ["status": "ok", "data": ["id": "1", "button": "kitchen"]]

    /// Watching, and the image sent.
    static func asking() -> FirmwareGuide {
        var guide = FirmwareGuide(button: "kitchen", image: [0xAB, 1])
        _ = guide.handle(.connected)
        _ = guide.handle(.received(["status": "ok", "data": [:]]))
        return guide
    }

    @Test("it watches first, then hands the image over in hexadecimal")
    func beginning() {
        var guide = FirmwareGuide(button: "kitchen", image: [0xAB, 1])
        #expect(guide.handle(.connected).sent == [["request": "watch"]])
        #expect(
            guide.handle(.received(["status": "ok", "data": [:]])).sent
                == [["request": "button/update", "data": ["id": "kitchen", "image": "ab01"]]])
    }

    @Test("progress is shown in steps of five per cent, of this button only, until it is finished")
    func progress() {
        var guide = Self.asking()
        _ = guide.handle(.received(Self.ok))
        var shown: [JSONValue] = []
        for percentage in 0...99 as ClosedRange<Int64> {
            shown += guide.handle(.received(Self.line("transferring", percentage: percentage))).shown
            shown += guide.handle(.received(Self.line("transferring", percentage: percentage, id: "2"))).shown
        }
        #expect(shown.compactMap { $0["percentage"]?.integerValue } == stride(from: 0, to: 100, by: 5).map { $0 })
        let end = guide.handle(.received(Self.line("finished")))
        #expect(end.shown.count == 1 && end.outcome == .some(nil))
    }

    @Test("what is said before the answer is shown when the answer has said whose it is")
    func early() {
        var guide = Self.asking()
        #expect(guide.handle(.received(Self.line("waiting"))).isEmpty)
        #expect(guide.handle(.received(Self.line("waiting", id: "2"))).isEmpty)
        #expect(guide.handle(.received(Self.ok)).shown == [Self.line("waiting")])
    }

    @Test("a failure, a refusal and a button that is gone each end it with a sentence")
    func ends() {
        var guide = Self.asking()
        #expect(
            guide.handle(.received(["status": "error", "error": "there is no button", "data": [:]])).outcome
                == .some("there is no button"))
        guide = Self.asking()
        _ = guide.handle(.received(Self.ok))
        let failed: JSONValue = ["kind": "firmware", "id": "1", "state": "failed", "advice": "Fetch it again."]
        #expect(guide.handle(.received(failed)).outcome == .some("Fetch it again."))
        guide = Self.asking()
        _ = guide.handle(.received(Self.ok))
        let gone: JSONValue = ["kind": "button", "id": "1", "state": "removed"]
        #expect(guide.handle(.received(gone)).outcome??.hasPrefix("The button is not paired") == true)
        guide = Self.asking()
        #expect(guide.handle(.interrupted).outcome == .some(""))
    }
}

extension [FirmwareGuide.Effect] {
    fileprivate var sent: [JSONValue] { compactMap { if case .send(let request) = $0 { request } else { nil } } }
    fileprivate var shown: [JSONValue] { compactMap { if case .show(let line) = $0 { line } else { nil } } }
    /// `nil`: goes on; `.some(nil)`: all is well.
    fileprivate var outcome: String?? {
        for effect in self {
            switch effect {
            case .finish: return .some(nil)
            case .fail(let failure): return failure.sentence
            case .send, .show: break
            }
        }
        return nil
    }
}
