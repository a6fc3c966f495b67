#if DEBUG
    import ButtonModel
    import MQTTTopics
    import Radios
    import Rules
    import Testing

    @testable import Hub

    @Suite("Statements that hold in the hub after each input")
    struct ProblemsTests {
        private static let now = Instant(sinceBoot: .seconds(5))

        private static func hub() -> Hub {
            var hub = Hub(
                HubConfiguration(version: "0"), stored: StoredState(installationID: "00ff", buttons: [button]),
                rules: RuleSet())
            _ = hub.handleCompletely(.start, at: now)
            return hub
        }

        @Test("a hub that has started contradicts itself in nothing")
        func none() { #expect(Self.hub().problems(at: Self.now).isEmpty) }

        private static let button = StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA12_3456), uuid: String(repeating: "0f", count: 16),
                serial: "BA00-H00002", nickname: "", firmwareVersion: 11),
            pairing: PairingKey([UInt8](repeating: 1, count: 16)).map { Pairing(identifier: 1, key: $0) },
            pairedAt: UTCTime(milliseconds: 0), cursor: EventCursor(bootID: 1, eventCount: 7, smallEventCount: 0))

        private static let token = RecordToken(rawValue: 9)

        private static let entry = Outbox.Entry(
            id: .queued(1), message: MQTTMessage(topicName: "a", payload: []), deadline: now)

        private static let contradictions: [(@Sendable (inout Hub) -> Void, String)] = [
            ({ $0.effects = [.cancelTimer] }, "effects are left in the hub"),
            (
                { $0.deadlines.set(.metrics, at: Instant(sinceBoot: .seconds(4))) },
                "the deadline of metrics is in the past"
            ),
            ({ _ = $0.rules.requestLoad(withTests: false, for: nil) }, "a reload waits, and none is loading"),
            ({ $0.rules.add(.timerFired) }, "inputs for rules are left"),
            ({ _ = $0.rules.statisticsChanged(of: "light") }, "statistics wait for a timer that is not set"),
            (
                { $0.radios.linkTimedOut(ButtonID(BluetoothAddress(rawValue: 1))) },
                "links that timed out were not reported"
            ),
            (
                {
                    $0.radios.opened(.first, isShared: false)
                    _ = $0.radios.holdClosed()
                }, "an adapter is open, and has to be closed"
            ),
            (
                { _ = $0.journal.recordFailed(nil, "no space", .memory, at: now) },
                "the timer of the store is not that of its journal"
            ),
            (
                { hub in
                    let step = ActionID(run: RunID(rawValue: 7), index: 1)
                    _ = hub.broker.publish(
                        entry, for: .step(step, rule: "light", topicName: "a"), at: now)
                }, "run 7 sends messages and has no record"
            ),
            ({ _ = $0.broker.publish(entry, at: now) }, "messages wait for the broker without a deadline"),
            (
                { $0.deadlines.set(.outbox, at: now) },
                "no message waits for the broker, and the deadline of the first is set"
            ),
            (
                { $0.journal.recorded(Acknowledgement(button: button.id, cursor: button.cursor), as: token) },
                "an event of BA00-H00002 is acknowledged that is not on the disk"
            ),
            (
                { hub in
                    let stranger = ButtonID(BluetoothAddress(rawValue: 1))
                    _ = hub.journal.sync(
                        token, acknowledging: Acknowledgement(button: stranger, cursor: EventCursor()))
                    _ = hub.journal.recordFailed(token, "no space", .memory, at: now)
                }, "events of 000000000001 are held back, which is not known"
            ),
            (
                { hub in
                    _ = hub.journal.recordFailed(token, "no space", .memory, at: now)
                    _ = hub.journal.sync(
                        token, acknowledging: Acknowledgement(button: button.id, cursor: button.cursor))
                }, "an event waits for sync 9, whose record has failed"
            ),
            (
                { $0.buttons.reportOpened(of: button.id, from: 1) },
                "the publish watermark of BA00-H00002 is not that of its messages"
            ),
        ]

        @Test("a contradiction is reported", arguments: contradictions.indices)
        func reported(index: Int) {
            var hub = Self.hub()
            Self.contradictions[index].0(&hub)
            let problems = hub.problems(at: Self.now)
            #expect(problems.contains(Self.contradictions[index].1), "\(problems)")
        }
    }
#endif
