import BluetoothHost
import ButtonModel
import Hub
import JSON
import Radios
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Adapter faults while buttons are pressed")
struct AdapterFaultScenarioTests {
    /// The faults of an adapter; the transport reports only `unplugged`.
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

    /// The rules accept late presses, so that a press that is lost or handled twice shows.
    private static var rules: HouseRules {
        PressScenarioTests.rules.acceptingLate
    }

    private static func status(_ house: inout Household) -> JSONValue {
        house.ask(#"{"request":"status"}"#)
        return house.responses.last?["data"] ?? .null
    }

    /// Longer than every recovery: a wedged adapter without other symptoms is found after two minutes, and then the
    /// transport waits up to half a minute.
    private static let recovery: Duration = .seconds(200)

    @Test(
        "after any adapter fault every press is handled once, and no fault remains",
        arguments: Mishap.allCases, 0..<50 as Range<UInt64>)
    func everyPressOnce(mishap: Mishap, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Two buffers: two packets lost are all of them.
        var house = Household(
            rules: Self.rules, seed: seed,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), aclBufferCount: 2))
        house.pairAll()
        house.forgetWhatHappened()
        var expected: [String: [String]] = ["kitchen": [], "hall": []]
        let strikesAfter = Int.random(in: 0..<4, using: &random)
        for round in 0..<5 {
            for button in ["kitchen", "hall"] where Bool.random(using: &random) {
                // No rule needs double clicks of the hall's button, so two presses of it are two clicks.
                let press: SimulatedPress = button == "kitchen" && Bool.random(using: &random) ? .doubleClick : .click
                house.press(button, press)
                expected[button]?.append(press.rawValue)
            }
            house.wait(.milliseconds(Int64.random(in: 0...1500, using: &random)))
            // Sometimes the button is out of reach meanwhile, so that it must connect again.
            if Int.random(in: 0..<3, using: &random) == 0 { house.reach("hall", round % 2 == 0) }
            if round == strikesAfter { mishap.strike(&house, &random) }
            // A press has its gesture before the next begins.
            house.wait(.milliseconds(Int64.random(in: 1500...4000, using: &random)))
        }
        house.reach("hall", true)
        house.wait(Self.recovery)
        // A button that lost its link without noticing connects again when it is pressed.
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

    @Test(
        "completions lost while a button is verified delay its press, which arrives without another press",
        arguments: 0...5)
    func lostCompletions(count: Int) {
        var house = Household(
            rules: Self.rules,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), aclBufferCount: 4))
        house.pairAll()
        house.reach("kitchen", false)
        house.wait(.seconds(60))
        house.forgetWhatHappened()
        house.breakAdapter(.loseCompletedPackets(count))
        house.reach("kitchen", true)
        house.press("kitchen", .click)
        // After the supervision timeout and a margin, the host considers the buffers free.
        house.wait(.seconds(15))
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["click"])
    }

    /// A single link may use all four buffers, and each of two links three.
    @Test(
        "completions lost while a button is verified delay its press, also if a second link takes the buffer that is left",
        arguments: 0..<20)
    func lostCompletions(secondAfterMilliseconds delay: Int) {
        var house = Household(
            rules: Self.rules,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), aclBufferCount: 4))
        house.pairAll()
        for button in ["kitchen", "hall"] { house.reach(button, false) }
        house.wait(.seconds(60))
        // Afterwards, the services of the buttons have to be found again, which takes more than three packets.
        house.crash()
        house.wait(.seconds(5))
        house.forgetWhatHappened()
        house.breakAdapter(.loseCompletedPackets(3))
        for button in ["kitchen", "hall"] {
            house.reach(button, true)
            house.press(button, .click)
            if button == "kitchen" { house.wait(.milliseconds(delay)) }
        }
        house.wait(.seconds(15))
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["click"])
        #expect(house.payloads(on: "tryck/80e4da000002/action") == ["click"])
    }

    @Test(
        "after several adapter faults, also overlapping ones, every press is handled once, and no fault remains",
        arguments: 100..<150 as Range<UInt64>)
    func manyMishaps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var house = Household(rules: Self.rules, seed: seed)
        house.pairAll()
        house.forgetWhatHappened()
        var expected: [String] = []
        for round in 0..<6 {
            Mishap.allCases.randomElement(using: &random)?.strike(&house, &random)
            house.wait(.milliseconds(Int64.random(in: 0...3000, using: &random)))
            // A button stores sixteen events, so it can store all events of three presses.
            if round % 2 == 0 {
                let press: SimulatedPress = Bool.random(using: &random) ? .click : .doubleClick
                house.press("kitchen", press)
                expected.append(press.rawValue)
            }
            house.wait(.milliseconds(Int64.random(in: 1500...40_000, using: &random)))
        }
        house.wait(Self.recovery)
        for _ in 0..<4 {
            house.press("kitchen", .click)
            expected.append("click")
            house.wait(.seconds(60))
        }
        #expect(house.payloads(on: "tryck/80e4da000001/action") == expected)
        #expect(house.violations.isEmpty)
        #expect(Self.status(&house)["ok"] == true)
    }

    private static let crowd = (1...6 as ClosedRange<UInt64>).map { number in
        SimulatedButtonDescription(
            name: "button\(number)", address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + number),
            serial: "BA00-C0000\(number)", isPublic: true)
    }

    @Test(
        "with six buttons and few links or accept list entries, a pressed button is heard within its turns",
        arguments: [0, 1, 2, 3] as [UInt8], [1, 2, 8])
    func crowd(places: UInt8, links: Int) {
        let declarations = Self.crowd.map { "  \($0.name): \($0.address ?? BluetoothAddress(rawValue: 0))\n" }
        let rules = HouseRules("version: 1\ndefaults: {queued: accept}\nbuttons:\n" + declarations.joined())
        // A turn takes two seconds, and the button is found and heard within two more.
        let turns = places < 2 ? 2 * (Self.crowd.count - 1) : (Self.crowd.count + Int(places) - 3) / (Int(places) - 1)
        let patience = Duration.seconds(2 * (Int64(turns) + 1))
        var house = Household(
            Self.crowd, rules: rules, seed: UInt64(places) * 8 + UInt64(links),
            controller: .init(
                address: BluetoothAddress(rawValue: 0x0000_5E00_5301), acceptListSize: places, maximumLinks: links))
        // Each button leaves when it is paired, so that a link is free for the next one.
        for button in Self.crowd {
            for other in Self.crowd { house.reach(other.name, other.name == button.name) }
            house.wait(.seconds(10))
            house.pairAll(within: .seconds(20))
        }
        #expect(house.store.state.buttons.count == Self.crowd.count)
        for button in Self.crowd { house.reach(button.name, false) }
        house.wait(.seconds(10))
        for button in Self.crowd {
            house.forgetWhatHappened()
            house.press(button.name, .click)
            house.reach(button.name, true)
            house.wait(patience)
            let id = ButtonID(button.address ?? BluetoothAddress(rawValue: 0))
            #expect(house.payloads(on: "tryck/\(id)/action") == ["click"], "\(button.name)")
            house.reach(button.name, false)
            house.wait(.seconds(10))
        }
        #expect(house.violations.isEmpty)
    }

    @Test("an adapter that cannot scan while it initiates receives known buttons during a search for new ones")
    func radioForOne() {
        var house = Household(
            rules: Self.rules,
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), scansWhileInitiating: false))
        house.pairAll()
        #expect(house.store.state.buttons.count == 2)
        house.reach("kitchen", false)
        house.wait(.seconds(10))
        house.forgetWhatHappened()
        house.ask(#"{"request":"permit_join","data":{"time":60}}"#)
        house.wait(.seconds(1))
        house.reach("kitchen", true)
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(8))
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["double_click"])
        #expect(Self.status(&house)["permit_join"] == true)
        #expect(house.violations.isEmpty)
    }
}
