import ButtonModel
import Foundation
import JSON
import Rules
import TestSupport
import Testing

@testable import Hub

@Suite("The metrics")
struct MetricsTests {
    @Test("a value may hold anything: what would end it is escaped, and nothing else")
    func escaping() {
        var text = Exposition()
        text.add(.buttonPresses, 3, .none.adding("button", "a\\n\"b\"\n\\").adding("id", "Küche {1}, 2=3\t#"))
        let lines = String(decoding: text.octets, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.last == #"tryck_button_presses_total{button="a\\n\"b\"\n\\",id="Küche {1}, 2=3\#t#"} 3"#)
    }

    @Test("a metric has its two lines once, before its samples, and none without samples")
    func families() {
        var text = Exposition()
        #expect(text.octets.isEmpty)
        text.add(.buttonSignal, -60, .none.adding("id", "a"))
        text.add(.buttonSignal, -61, .none.adding("id", "b"))
        text.add(.buttonBatteryVoltage, thousandths: 2950)
        #expect(
            String(decoding: text.octets, as: UTF8.self) == """
                # HELP tryck_button_rssi_dbm The signal strength that the adapter measured last
                # TYPE tryck_button_rssi_dbm gauge
                tryck_button_rssi_dbm{id="a"} -60
                tryck_button_rssi_dbm{id="b"} -61
                # HELP tryck_button_battery_volts The battery voltage that was measured last
                # TYPE tryck_button_battery_volts gauge
                tryck_button_battery_volts 2.95

                """)
    }

    @Test("a histogram has cumulated buckets with all labels, its sum in seconds, and its count")
    func histogram() {
        var times = Histogram(bounds: [0.1, 2.5])
        for duration in [Duration.milliseconds(100), .milliseconds(101), .seconds(2), .seconds(60), .seconds(-1)] {
            times.add(duration)
        }
        var text = Exposition()
        text.add(.radioConnect, times, .none.adding("radio", "hall"))
        #expect(
            String(decoding: text.octets, as: UTF8.self).split(separator: "\n").dropFirst() == [
                "# TYPE tryck_radio_connect_seconds histogram",
                #"tryck_radio_connect_seconds_bucket{radio="hall",le="0.1"} 2"#,
                #"tryck_radio_connect_seconds_bucket{radio="hall",le="2.5"} 4"#,
                #"tryck_radio_connect_seconds_bucket{radio="hall",le="+Inf"} 5"#,
                #"tryck_radio_connect_seconds_sum{radio="hall"} 62.201"#,
                #"tryck_radio_connect_seconds_count{radio="hall"} 5"#,
            ])
    }

    @Test("a name says kind and unit as Prometheus has it, and its help needs no escapes", arguments: Metric.allCases)
    func names(metric: Metric) throws {
        #expect(metric.name.wholeMatch(of: /tryck_[a-z_]+/) != nil)
        let described = metric.described
        #expect(metric.name.hasSuffix("_total") == (described.kind == .counter))
        #expect(metric.name.hasSuffix("_seconds") == (described.unit == .seconds))
        #expect(metric.name.hasSuffix("_volts") == (described.unit == .volts))
        #expect(metric.name.hasSuffix("_ratio") == (described.unit == .ratio))
        #expect(metric.name.hasSuffix("_dbm") == (described.unit == .decibelMilliwatts))
        #expect(!described.meaning.contains { $0 == "\\" || $0.isNewline } && !described.meaning.hasSuffix("."))
        #expect(described.labels.allSatisfy { $0.wholeMatch(of: /[a-z]+/) != nil })
    }

    @Test("deploy/metrics.md has the same table")
    func page() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let page = try String(contentsOf: root.appending(path: "deploy/metrics.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `tryck_") }.map(String.init)
        let expected = Metric.allCases.map { metric in
            let (kind, unit, labels, meaning) = metric.described
            let names = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
            return "| `\(metric.name)\(names)` | \(kind.rawValue) | \(unit.rawValue) | \(meaning) |"
        }
        #expect(rows == expected, "\n\(expected.joined(separator: "\n"))\n")
    }

    private static func hub(hasMetrics: Bool = true, buttons: [StoredButton] = []) -> Hub {
        Hub(
            HubConfiguration(version: "9", radios: [], hasMetrics: hasMetrics),
            stored: StoredState(installationID: "5a1f", nextRun: 1, buttons: buttons), rules: RuleSet())
    }

    private static func lines(_ effects: [Hub.Effect]) -> [Substring]? {
        effects.lazy.compactMap { effect in
            guard case .writeMetrics(let octets) = effect else { return nil }
            return String(decoding: octets, as: UTF8.self).split(separator: "\n")
        }.first
    }

    @Test("written at the start; 15 s after the first change since; and at the end: between them there is no timer")
    func deadlines() throws {
        var now = Instant(sinceBoot: .seconds(50))
        var hub = Self.hub()
        #expect(Self.lines(hub.handleCompletely(.wallClock(UTCTime(milliseconds: 1_795_000_000_120)), at: now)) == nil)
        var effects = hub.handleCompletely(.start, at: now)
        #expect(try #require(Self.lines(effects)).contains("tryck_start_time_seconds 1795000000.12"))
        #expect(!effects.contains { if case .setTimer = $0 { true } else { false } })
        #expect(hub.handleCompletely(.timerFired, at: now).isEmpty)

        now = now + .seconds(3600)
        let deadline = now + .seconds(15)
        #expect(hub.handleCompletely(.brokerConnected, at: now).last == .setTimer(deadline))
        now = now + .seconds(9)
        for change in [Hub.Input.brokerDisconnected("gone"), .brokerConnected] {
            effects = hub.handleCompletely(change, at: now)
            #expect(Self.lines(effects) == nil && effects.last != .setTimer(now + .seconds(15)))
        }
        effects = hub.handleCompletely(.timerFired, at: deadline)
        #expect(try #require(Self.lines(effects)).contains("tryck_broker_up 1"))
        #expect(hub.handleCompletely(.timerFired, at: deadline + .seconds(60)).isEmpty)

        effects = hub.handleCompletely(.stop, at: deadline + .seconds(70))
        #expect(try #require(Self.lines(effects)).contains("tryck_up 0"))
        #expect(effects.contains(.finish(isRestart: false)))
    }

    @Test("what changed and is again as it was is not written")
    func thereAndBack() {
        let now = Instant(sinceBoot: .seconds(50))
        var hub = Self.hub()
        _ = hub.handleCompletely(.start, at: now)
        _ = hub.handleCompletely(.recordFailed(1, "no space left"), at: now)
        let effects = hub.handleCompletely(.synced(2, true), at: now + .seconds(2))
        #expect(Self.lines(effects) == nil)
        #expect(hub.handleCompletely(.timerFired, at: now + .seconds(15)).isEmpty)
    }

    @Test("without `metrics`, no file is written and no timer is set")
    func unwanted() {
        let now = Instant(sinceBoot: .seconds(50))
        var hub = Self.hub(hasMetrics: false)
        var effects = hub.handleCompletely(.start, at: now)
        effects += hub.handleCompletely(.brokerDisconnected("it is gone"), at: now)
        effects += hub.handleCompletely(.stop, at: now)
        #expect(
            !effects.contains { effect in
                switch effect {
                case .writeMetrics, .setTimer: true
                default: false
                }
            })
    }

    @Test("two buttons with one name have two lines, and an unknown value has none")
    func twins() throws {
        let twin = ButtonIdentity(
            address: BluetoothAddress(rawValue: 0x80E4_DA00_0002), uuid: "", serial: "BA00-K00002",
            nickname: RecordingTests.identity.nickname, firmwareVersion: 11)
        var hub = Self.hub(
            buttons: [RecordingTests.identity, twin].map {
                StoredButton(identity: $0, pairing: .notRecorded, pairedAt: UTCTime(milliseconds: 0))
            })
        let lines = try #require(Self.lines(hub.handleCompletely(.start, at: Instant(nanoseconds: 0))))
        #expect(
            lines.filter { $0.hasPrefix("tryck_button_connected{") } == [
                #"tryck_button_connected{button="Küche \"1\"",id="80e4da000001"} 0"#,
                #"tryck_button_connected{button="Küche \"1\"",id="80e4da000002"} 0"#,
            ])
        #expect(!lines.contains { $0.contains("battery") || $0.contains("rssi") || $0.contains("last_seen") })
        #expect(!lines.contains { $0.contains("start_time") || $0.contains("adapter") })
    }
}
