import ButtonModel
import Rules
import Testing

@testable import Hub

@Suite("Turns of a hub")
struct HubRunnerTests {
    private static let now = Instant(nanoseconds: 1)

    private static func runner() -> HubRunner {
        HubRunner(
            Hub(
                HubConfiguration(version: "9", radios: []), stored: StoredState(installationID: "5a1f"),
                rules: RuleSet()))
    }

    @Test("an input that is added while effects are carried out is handled in a later turn, in order")
    func order() {
        var runner = Self.runner()
        runner.add(.start)
        runner.add(.brokerConnected)
        #expect(runner.next(at: Self.now)?.input == .start)
        runner.add(.timerFired)
        #expect(runner.next(at: Self.now)?.input == .brokerConnected)
        let later = Instant(nanoseconds: 2)
        let last = runner.next(at: later)
        #expect(last?.input == .timerFired && last?.at == later)
        #expect(runner.next(at: later) == nil)
        runner.add(.stop)
        #expect(runner.next(at: later)?.input == .stop)
    }

    @Test("a packet of a radio is handled before what other programs have sent, and after all other inputs")
    func radioFirst() {
        var runner = Self.runner()
        let line = Hub.Input.controlLine(Hub.ClientID(rawValue: 1), Array("{}".utf8))
        let message = Hub.Input.messageReceived(topicName: "a", payload: [1], retained: false)
        let engine = Hub.Input.uplink(.received(topicName: "a", payload: [1]))
        let flicd = Hub.Input.source(0, .received([1]))
        let inputs = [message, .timerFired, line, message, .received([4]), line, engine, flicd, .received([5])]
        for input in inputs { runner.add(input) }
        var order: [Hub.Input] = []
        while let turn = runner.next(at: Self.now) { order.append(turn.input) }
        #expect(order == [message, .timerFired, .received([4]), .received([5]), line, message, line, engine, flicd])
    }

    @Test("the sync of a record that failed is left out, unless the reserve on the disk has the record")
    func failedRecord() {
        let (lost, reserved) = (RecordToken(rawValue: 1), RecordToken(rawValue: 2))
        var failed = FailedRecords()
        failed.recordFailed(nil, .nowhere)
        for refuge in [RecordRefuge.memory, .nowhere] {
            failed.recordFailed(lost, refuge)
            failed.recordFailed(reserved, .disk)
            let useful = [reserved, lost, lost].map { failed.isSyncUseful($0) }
            #expect(useful == [true, false, true])
        }
        failed.recordFailed(lost, .memory)
        failed.recorded()
        let isUseful = failed.isSyncUseful(lost)
        #expect(isUseful)
    }

    @Test("the rest of a press precedes every other input, and requests the sync of its record")
    func press() {
        let stored = StoredState(
            installationID: "5a1f",
            buttons: [StoredButton(identity: RecordingTests.identity, pairing: nil, pairedAt: UTCTime(milliseconds: 0))]
        )
        var runner = HubRunner(
            Hub(
                replaying: RecordingHeader(
                    startedAt: UTCTime(milliseconds: 0),
                    configuration: HubConfiguration(version: "9", radios: []),
                    stored: stored),
                rules: RuleSet()))
        runner.add(.start)
        _ = runner.next(at: Self.now)
        runner.hub.buttonSource.replay([.effect(RecordingTests.effects(.events)[0])])
        runner.add(.received([]))
        runner.add(.brokerConnected)

        let first = runner.next(at: Self.now)?.effects ?? []
        #expect(first.last == .goOn)
        var record: RecordToken?
        for effect in first {
            if case .record(let token, _) = effect { record = token }
            if case .sync = effect { Issue.record("a sync precedes the actions") }
        }
        let rest = runner.next(at: Self.now)
        #expect(rest?.input == .goOn && record != nil)
        #expect(rest?.effects.contains { if case .sync(record) = $0 { true } else { false } } == true)
        #expect(runner.next(at: Self.now)?.input == .brokerConnected)
    }
}
