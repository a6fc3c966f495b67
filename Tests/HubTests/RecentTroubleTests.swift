import ButtonModel
import Buttons
import Flic
import Foundation
import JSON
import Rules
import Testing

@testable import Hub

@Suite("The last warnings and errors")
struct RecentTroubleTests {
    private static let noon = UTCTime(milliseconds: 1_795_262_400_000)

    private func described(_ trouble: RecentTrouble, after seconds: Int64 = 0) -> [JSONValue] {
        trouble.described(at: Instant(nanoseconds: seconds * 1_000_000_000)).arrayValue ?? []
    }

    @Test("what is said again is counted, and is as old as its last time; debug and info are not kept")
    func repeated() {
        var trouble = RecentTrouble()
        for (second, level) in [LogLevel.debug, .info, .warning, .warning, .error].enumerated() {
            trouble.add(
                level, "x", time: Self.noon + .seconds(second), at: Instant(nanoseconds: Int64(second) * 1_000_000_000))
        }
        let lines = described(trouble, after: 10)
        #expect(lines.map { $0["level"] } == ["warning", "error"])
        #expect(lines.map { $0["count"] } == [2, 1])
        #expect(lines.map { $0["age_s"] } == [7, 6])
        #expect(lines.first?["time"] == .string((Self.noon + .seconds(3)).description))
    }

    @Test("the last 20 are kept, and the beginning of what is long")
    func bounds() {
        var trouble = RecentTrouble()
        for number in 0..<RecentTrouble.maximumCount + 5 {
            trouble.add(
                .warning, "\(number) " + String(repeating: "é", count: 1000), time: Self.noon, at: .init(nanoseconds: 0)
            )
        }
        let lines = described(trouble)
        #expect(lines.count == RecentTrouble.maximumCount)
        #expect(lines.first?["message"]?.stringValue?.hasPrefix("5 é") == true)
        #expect(lines.allSatisfy { $0["message"]?.stringValue?.count == RecentTrouble.maximumLength + 1 })
    }

    @Test("rules that fail again and again, as a client of the broker can make them, do not hide other trouble")
    func failingRules() {
        var trouble = RecentTrouble()
        trouble.add(.error, "the disk is full", time: Self.noon, at: .init(nanoseconds: 0))
        var logbook = Logbook(.info)
        var written = 0
        for number in 0..<100 {
            let source = LogSource.rule(number % 2 == 0 ? "door" : "gate")
            guard let message = logbook.admit(source, "failed after \(number) ms", at: .init(nanoseconds: 0)) else {
                continue
            }
            written += 1
            trouble.add(.warning, message, from: source, time: Self.noon, at: .init(nanoseconds: 0))
        }
        #expect(written == 10)
        #expect(
            described(trouble).map { $0["message"] } == ["the disk is full", "failed after 8 ms", "failed after 9 ms"])
        for number in 0..<50 {
            trouble.add(.warning, "failed", from: .rule("\(number)"), time: Self.noon, at: .init(nanoseconds: 0))
            trouble.add(.warning, "unknown", from: .outside(.unknownButton), time: Self.noon, at: .init(nanoseconds: 0))
        }
        let lines = described(trouble)
        #expect(lines.count == 2 + RecentTrouble.maximumCount)
        #expect(lines.first?["message"] == "the disk is full")
    }

    @Test("status tells of a fault that is over, and counts what rules did")
    func status() throws {
        var hub = Hub(
            HubConfiguration(version: "9", radios: [], capture: "/tmp/hci"),
            stored: StoredState(installationID: "05a1"), rules: RuleSet())
        _ = hub.handleChecked(.wallClock(Self.noon), at: Instant(nanoseconds: 0))
        _ = hub.handleChecked(.start, at: Instant(nanoseconds: 0))
        _ = hub.handleChecked(.brokerDisconnected("refused"), at: Instant(nanoseconds: 1_000_000_000))
        _ = hub.handleChecked(.brokerConnected, at: Instant(nanoseconds: 2_000_000_000))
        let client = Hub.ClientID(rawValue: 1)
        let effects = hub.handleChecked(
            .controlLine(client, Array(#"{"request":"status","data":{}}"#.utf8)),
            at: Instant(nanoseconds: 3_000_000_000))
        let answer = try #require(
            effects.lazy.compactMap { if case .respond(_, let line) = $0 { line } else { nil } }.first)
        let data = try #require(answer["data"])
        #expect(data["ok"] == true)
        #expect(data["last_errors"]?.arrayValue?.map { $0["message"] } == ["refused"])
        #expect(data["last_errors"]?.arrayValue?.first?["age_s"] == 2)
        #expect(data["last_errors"]?.arrayValue?.first?["time"] == .string((Self.noon + .seconds(1)).description))
        #expect(data["rules"]?["started"] == 0)
        #expect(data["capture"] == "/tmp/hci")
        #expect(try documentedKeys() == keys(of: data, after: "").sorted())
    }

    @Test("a device that pretends to be a known button neither fills the log nor hides real trouble")
    func impostor() throws {
        let stored = StoredState(
            installationID: "5a1f",
            buttons: [StoredButton(identity: RecordingTests.identity, pairing: nil, pairedAt: Self.noon)])
        var hub = Hub(
            replaying: RecordingHeader(
                startedAt: Self.noon, configuration: HubConfiguration(version: "9", radios: []), stored: stored),
            rules: RuleSet())
        _ = hub.handleCompletely(.start, at: Instant(nanoseconds: 0))
        _ = hub.handleCompletely(.recordFailed(nil, "the disk is full"), at: Instant(nanoseconds: 0))
        var lines = 0
        for number in 1...100 {
            hub.buttonSource.replay([
                .effect(.sessionFailed(stored.buttons[0].id, .sessionEnded(reason: UInt8(number))))
            ])
            let effects = hub.handleCompletely(.received([]), at: Instant(sinceBoot: .milliseconds(number)))
            lines += effects.count { if case .log(_, let text) = $0 { text.contains("session failed") } else { false } }
        }
        #expect(lines == OutsideLine.failedSession.burst)
        let trouble = hub.logbook.describeTrouble(at: Instant(sinceBoot: .seconds(1))).arrayValue ?? []
        #expect(trouble.count == 2)
        #expect(trouble.first?["message"]?.stringValue?.contains("the disk is full") == true)
    }

    /// The first column of the table in `deploy/metrics.md`.
    private func documentedKeys() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let page = try String(contentsOf: root.appending(path: "deploy/metrics.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## Without Prometheus").last)
        return section.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }.sorted()
    }

    private func keys(of value: JSONValue, after path: String) -> [String] {
        (value.objectValue ?? []).flatMap { member -> [String] in
            let name = path + member.name
            if let first = member.value.arrayValue?.first, first.objectValue != nil {
                return [name] + keys(of: first, after: name + "[].")
            }
            return member.value.objectValue == nil ? [name] : keys(of: member.value, after: name + ".")
        }
    }
}
