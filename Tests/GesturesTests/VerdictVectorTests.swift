import ButtonModel
import Foundation
import Gestures
import JSON
import Testing

/// The gestures that the manufacturer's own library reports for each event code and each gesture, in all four modes.
@Suite("Gestures of the reference vectors")
struct VerdictVectorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var codes: [Int64]
        var expected: [TriggerMode: [String]]
        var testDescription: String { name }
    }

    static let cases: [Case] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../FlicTests/Vectors/events.json")
        guard let text = try? Data(contentsOf: file), let vectors = try? JSONValue(parsing: Array(text)) else {
            return []
        }
        func expected(_ entry: JSONValue) -> [TriggerMode: [String]] {
            let names: [TriggerMode: String] = [
                .click: "Click", .clickAndHold: "ClickAndHold", .clickAndDoubleClick: "ClickAndDoubleClick",
                .clickAndDoubleClickAndHold: "ClickAndDoubleClickAndHold",
            ]
            return names.mapValues { name in
                (entry["by_trigger_mode"]?[name]?.arrayValue ?? []).compactMap(\.stringValue)
            }
        }
        let single = (vectors["single"]?.arrayValue ?? []).map { entry in
            let code = entry["event_encoded"]?.integerValue ?? -1
            return Case(name: "code \(code)", codes: [code], expected: expected(entry))
        }
        let gestures = (vectors["gestures"]?.arrayValue ?? []).map { entry in
            Case(
                name: entry["gesture"]?.stringValue ?? "?",
                codes: (entry["items"]?.arrayValue ?? []).compactMap { $0["event_encoded"]?.integerValue },
                expected: expected(entry))
        }
        return single + gestures
    }()

    @Test("all 24 vectors are read")
    func vectorsAreThere() {
        #expect(VerdictVectorTests.cases.count == 24)
    }

    @Test("every event code and gesture gives the reference's gestures in all four modes", arguments: cases)
    func sameAsReference(_ vector: Case) {
        for mode in TriggerMode.allCases {
            var recogniser = GestureRecogniser()
            recogniser.configure([:], others: Vocabulary(fixedMode: mode), chords: [], at: .start)
            var words: [String] = []
            for (place, code) in vector.codes.enumerated() {
                let event = ButtonEvent(
                    button: .kitchen, bootID: 1, counter: UInt32(place), step: PressStep(code: code),
                    ticks: UInt64(place))
                words += recogniser.handle(.event(event), at: .start).map(\.word)
            }
            // Reports that the reference does not have, such as down and up, are left out.
            #expect(
                words.filter { ["click", "double_click", "hold"].contains($0) } == vector.expected[mode], "\(mode)")
        }
    }
}

extension PressStep {
    /// The event codes of a button event, as the protocol page lists them.
    fileprivate init(code: Int64) {
        switch code {
        case 1, 5: self = .down
        case 3: self = .hold(ofSecondPress: false)
        case 7: self = .hold(ofSecondPress: true)
        case 2, 6: self = .clickTimeout
        case 10: self = .up(.click)
        case 11: self = .up(.doubleClick)
        case 12, 13: self = .up(.afterHold)
        case 14: self = .up(.afterHoldClick)
        case 15: self = .up(.afterHoldDoubleClick)
        default: self = .up(.open)
        }
    }
}
