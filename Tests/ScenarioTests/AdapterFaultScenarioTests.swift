import BluetoothHost
import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("An adapter that fails, in a house where buttons are pressed")
struct AdapterFaultScenarioTests {
    /// What can happen to an adapter; `unplugged` is the only one that the transport tells.
    enum Mishap: CaseIterable, CustomTestStringConvertible {
        case unplugged, hardwareError, mute, wedged, lostPackets, refusedConnections, refusedList, refusedCancel
        case lateConnection

        var testDescription: String { "\(self)" }

        func strike(_ house: inout Household, _ random: inout SeededGenerator) {
            let count = Int.random(in: 1...4, using: &random)
            switch self {
            case .unplugged: house.unplugAdapter()
            case .hardwareError: house.breakAdapter(.hardwareError(code: 0x42))
            case .mute: house.breakAdapter(.stopAnswering)
            case .wedged: house.breakAdapter(.wedge)
            case .lostPackets: house.breakAdapter(.loseCompletedPackets(count))
            case .refusedConnections:
                house.breakAdapter(.refuse(.leCreateConnection, .memoryCapacityExceeded, count: count))
            case .refusedList:
                house.breakAdapter(.refuse(.leAddDeviceToFilterAcceptList, .commandDisallowed, count: count))
            case .refusedCancel: house.breakAdapter(.refuse(.leCreateConnectionCancel, .commandDisallowed, count: 1))
            case .lateConnection: house.breakAdapter(.delayConnectionComplete(.milliseconds(200 * Int64(count))))
            }
        }
    }

    /// Late presses count here, so that one that is lost or handled twice shows.
    private static var rules: RuleSet {
        var rules = PressScenarioTests.rules
        for index in rules.buttons.indices { rules.buttons[index].queued = .accept }
        return rules
    }

    private static func status(_ house: inout Household) -> JSONValue {
        house.ask(#"{"request":"status"}"#)
        return house.responses.last?["data"] ?? .null
    }

    /// Longer than any of it takes: a wedge nobody notices by anything else is found after five minutes, and then
    /// the transport waits up to half a minute.
    private static let recovery: Duration = .seconds(400)

    @Test(
        "whatever happens to the adapter, every press is handled once, and in the end all is well",
        arguments: Mishap.allCases, 0..<50 as Range<UInt64>)
    func everyPressOnce(mishap: Mishap, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var house = Household(rules: Self.rules, seed: seed)
        house.pairAll()
        house.forgetWhatHappened()
        var expected: [String: [String]] = ["kitchen": [], "hall": []]
        let strikesAfter = Int.random(in: 0..<4, using: &random)
        for round in 0..<5 {
            for button in ["kitchen", "hall"] where Bool.random(using: &random) {
                // Nothing asks for the hall's double clicks: two presses of it are two clicks.
                let press: SimulatedPress = button == "kitchen" && Bool.random(using: &random) ? .doubleClick : .click
                house.press(button, press)
                expected[button]?.append(press.rawValue)
            }
            house.wait(.milliseconds(Int64.random(in: 0...1500, using: &random)))
            // Sometimes out of reach meanwhile, so that there is a connection to be made.
            if Int.random(in: 0..<3, using: &random) == 0 { house.reach("hall", round % 2 == 0) }
            if round == strikesAfter { mishap.strike(&house, &random) }
            // A press has its gesture before the next begins.
            house.wait(.milliseconds(Int64.random(in: 1500...4000, using: &random)))
        }
        house.reach("hall", true)
        house.wait(Self.recovery)
        // A button that fell silent meanwhile speaks up when it is pressed.
        for _ in 0..<4 {
            for button in ["kitchen", "hall"] {
                house.press(button, .click)
                expected[button]?.append("click")
            }
            house.wait(.seconds(60))
        }
        #expect(house.payloads(on: "tryck/80e4da000001/action") == expected["kitchen"])
        #expect(house.payloads(on: "tryck/80e4da000002/action") == expected["hall"])
        #expect(house.violations.isEmpty)
        let status = Self.status(&house)
        #expect(status["ok"] == true)
        #expect(status["buttons"]?["ready"] == 2)
    }
}
