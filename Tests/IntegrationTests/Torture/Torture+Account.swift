import Foundation
import JSON

// Assigns the observations to the presses.
extension Torture {
    func account() -> Ledger {
        var ledger = Ledger()
        for button in buttons {
            for press in button.presses {
                let kind = TortureRules.Kind(code: press.code)
                ledger.pressed(press.identity, steps: kind.steps)
                for delivery in press.deliveries {
                    ledger.delivered(press.identity, age(of: delivery, press, kind))
                }
            }
        }
        for line in brokers.flatMap(\.lines) where line.contains("Received PUBLISH from tryck") {
            guard let mark = line.firstMatch(of: /'mark\/([^']*)'/)?.output.1 else { continue }
            let (press, step) = read(mark)
            ledger.marked(press, step: step)
        }
        let file = (try? String(contentsOfFile: workshop.path("marks"), encoding: .utf8)) ?? ""
        for line in file.split(separator: "\n") { ledger.marked(read(line).press) }
        for line in messages.lines where line.hasPrefix("tryck/bridge/event ") { report(line, in: &ledger) }
        for line in lives.flatMap(\.daemon.lines) {
            if let mark = line.firstMatch(of: /: failed (.*)/)?.output.1 { ledger.failed(read(mark).press) }
        }
        return ledger
    }

    /// The daemon uses the age of the oldest step of a press, which arrived `heldFor` before the release or on an
    /// earlier link. A stored step makes the press late, even if the release is live.
    private func age(
        of delivery: AirButton.Delivery, _ press: AirButton.Press, _ kind: TortureRules.Kind
    ) -> Ledger.Age {
        if delivery.age > kind.maximumAge + .milliseconds(10) { return .tooOld }
        if kind == .last, !delivery.isLast { return .doubtful }
        return delivery.age + .milliseconds(press.heldFor + 10) < kind.maximumAge ? .fresh : .doubtful
    }

    /// Parses `CODE_STEP_ADDRESS_HELD_AT`.
    private func read(_ mark: Substring) -> (press: Ledger.Press, step: Int) {
        let words = mark.split(separator: "_")
        guard words.count == 5, let code = Int(words[0]), let step = Int(words[1]), let heldFor = Int(words[3]),
            let at = try? Date("\(words[4])Z", strategy: .iso8601)
        else { return (unknown(String(mark)), 0) }
        let button = words[2].replacing(":", with: "").lowercased()
        let candidates = presses(of: button, code).filter { abs($0.heldFor - heldFor) <= 1 }
        let nearest = candidates.min {
            abs($0.releasedAt.timeIntervalSince(at)) < abs($1.releasedAt.timeIntervalSince(at))
        }
        return (nearest?.identity ?? unknown(String(mark)), step)
    }

    /// The latest press with the code of the rule when the run began.
    private func report(_ line: String, in ledger: inout Ledger) {
        guard let event = try? JSONValue(parsing: String(line.dropFirst("tryck/bridge/event ".count))),
            event["type"] == "interrupted", let data = event["data"], let rule = data["rule"]?.stringValue,
            let code = Int(rule.dropFirst("press_".count)), let run = data["run"]?.integerValue,
            let button = data["button"]?.stringValue, let text = data["started_at"]?.stringValue,
            let began = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        else { return }
        let press = presses(of: button, code).last { $0.releasedAt.timeIntervalSince(began) < 0.1 }
        ledger.interrupted(press?.identity ?? unknown(line), run: UInt64(clamping: run))
    }

    private func presses(of button: String, _ code: Int) -> [AirButton.Press] {
        buttons.first { $0.address == button }?.presses.filter { $0.code == code } ?? []
    }

    private func unknown(_ text: String) -> Ledger.Press { Ledger.Press(button: text, bootID: 0, counter: 0) }

    /// The numbered messages about gestures and steps that were seen, and those that were reported.
    var numbering: Numbering {
        var numbering = Numbering()
        for line in messages.lines where line.hasPrefix("tryck/") {
            guard let space = line.firstIndex(of: " "),
                ["/event", "/raw"].contains(where: line[..<space].hasSuffix),
                let message = try? JSONValue(parsing: String(line[space...]))
            else { continue }
            let data = message["data"] ?? message
            if let button = data["id"]?.stringValue, let number = data["seq"]?.integerValue {
                numbering.saw(number, of: button)
            } else if message["type"] == "interrupted", let button = data["button"]?.stringValue,
                let first = data["first_seq"]?.integerValue, let last = data["last_seq"]?.integerValue, first <= last
            {
                numbering.told(first...last, of: button)
            }
        }
        return numbering
    }

    /// Everything that is needed to investigate a failure.
    func story(of findings: [Ledger.Finding]) -> String {
        var lines: [String] = []
        for finding in findings {
            lines.append("\(finding)")
            for press in buttons.flatMap(\.presses) where press.identity == finding.press {
                lines.append(
                    "  rule press_\(press.code) (\(TortureRules.Kind(code: press.code))), held \(press.heldFor) ms, let go "
                        + "\(time(press.releasedAt)), brought \(press.deliveries.map { "\($0.age) in life \($0.life)" })"
                )
                lines += (messages.lines + brokers.flatMap(\.lines)).filter {
                    $0.contains("press_\(press.code)\"") || $0.contains("mark/\(press.code)_") && $0.contains("from")
                }.map { "    \($0)" }
                for life in Set(press.deliveries.map(\.life)).sorted() { lines += story(ofLife: life) }
            }
            if let button = buttons.first(where: { $0.address == finding.press.button }) {
                lines += button.notes.suffix(20).map { "  the button: \($0)" }
            }
        }
        return lines.joined(separator: "\n")
    }

    private func story(ofLife place: Int) -> [String] {
        guard lives.indices.contains(place) else { return [] }
        let life = lives[place]
        return [
            "  life \(place): \(time(life.startedAt)) to \(life.endedAt.map(time) ?? "the end"), "
                + (life.plan.map { "killed \($0)" } ?? "not killed")
                + (life.fault.map { ", or after the proxy was told: \($0)" } ?? "")
        ] + life.daemon.lines.filter { !$0.contains("dropped_conditions") }.suffix(30).map { "    \($0)" }
    }

    private func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
