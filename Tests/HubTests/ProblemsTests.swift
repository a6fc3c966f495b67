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
                HubConfiguration(version: "0"), stored: StoredState(installationID: "00ff"),
                rules: RuleSet())
            _ = hub.handleCompletely(.start, at: now)
            return hub
        }

        @Test("a hub that has started contradicts itself in nothing")
        func none() { #expect(Self.hub().problems(at: Self.now).isEmpty) }

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
