import BluetoothHost
import ButtonModel
import Hub
import Simulator
import TestSupport
import Testing

/// A house with more buttons than its adapter supports links.
@Suite("Few links")
struct FewLinksScenarioTests {
    private static func house(
        of count: Int, links: Int, acceptListSize: UInt8 = 255, pairs: Bool = true
    ) -> (house: Household, buttons: [SimulatedButtonDescription]) {
        let buttons = (1...UInt64(count)).map { number in
            SimulatedButtonDescription(
                name: "b\(number)", address: BluetoothAddress(rawValue: 0x80E4_DA00_0100 + number), isPublic: true)
        }
        let declarations = buttons.map { "  \($0.name): \($0.wantedAddress)\n" }.joined()
        var house = Household(
            buttons, rules: HouseRules("version: 1\nbuttons:\n" + declarations), seed: UInt64(count),
            controller: .init(
                address: BluetoothAddress(rawValue: 0x0000_5E00_5301), acceptListSize: acceptListSize,
                maximumLinks: links))
        if pairs {
            house.pairAll(within: .seconds(Int64(count) * 10))
            #expect(house.store.state.buttons.count == count)
            house.wait(.seconds(60))
            house.forgetWhatHappened()
        }
        return (house, buttons)
    }

    private static func clicks(of button: SimulatedButtonDescription, in house: Household) -> Int {
        house.payloads(on: "tryck/\(ButtonID(button.wantedAddress))/action").count { $0 == "click" }
    }

    private static func stale(in house: Household) -> Int {
        house.payloads(on: "tryck/bridge/event").count { $0.contains("stale_event") }
    }

    @Test("five buttons on three links, each pressed once, 2 s apart, are all heard in time")
    func five() {
        var (house, buttons) = Self.house(of: 5, links: 3)
        for button in buttons {
            house.press(button.name, .click)
            house.wait(.seconds(2))
            #expect(Self.clicks(of: button, in: house) == 1, "\(button.name)")
        }
        house.wait(.seconds(30))
        #expect(Self.stale(in: house) == 0)
        #expect(house.violations == [])
    }

    @Test(
        "thirty buttons on three links, pressed in random order 2 s apart: no press is stale",
        arguments: [1, 2, 3] as [UInt64], [32, 255] as [UInt8])
    func crowd(seed: UInt64, acceptListSize: UInt8) {
        var (house, buttons) = Self.house(of: 30, links: 3, acceptListSize: acceptListSize)
        var random = SeededGenerator(seed: seed)
        var pressed: [String: Int] = [:]
        for _ in 0..<120 {
            guard let button = buttons.randomElement(using: &random) else { continue }
            house.press(button.name, .click)
            house.wait(.seconds(2))
            pressed[button.name, default: 0] += 1
        }
        house.wait(.seconds(30))
        #expect(Self.stale(in: house) == 0)
        for button in buttons {
            #expect(Self.clicks(of: button, in: house) == pressed[button.name] ?? 0, "\(button.name)")
        }
        #expect(house.violations == [])
    }

    @Test("a fourth button on three links is paired soon, although the others are in use")
    func pairing() {
        var (house, buttons) = Self.house(of: 4, links: 3, pairs: false)
        let fourth = buttons[3].name
        house.reach(fourth, false)
        house.pairAll(within: .seconds(10))
        #expect(house.store.state.buttons.count == 3)
        for button in buttons.prefix(3) { house.press(button.name, .click) }
        house.wait(.milliseconds(2500))
        house.reach(fourth, true)
        house.ask(#"{"request":"permit_join","data":{"time":10}}"#)
        house.wait(.seconds(2))
        #expect(house.store.state.buttons.count == 4)
    }

    @Test("the log says once that buttons wait for links, and once that none waits any more")
    func logged() {
        var (house, buttons) = Self.house(of: 5, links: 3, pairs: false)
        house.pairAll(within: .seconds(60))
        for button in buttons + buttons {
            house.press(button.name, .click)
            house.wait(.seconds(5))
        }
        func lines(_ word: String) -> [String] { house.logged.filter { $0.contains(word) } }
        #expect(lines("no space for").count == 1, "\(lines("no space for"))")
        #expect(lines("room for all").isEmpty)
        for button in buttons.prefix(2) {
            house.ask(#"{"request":"button/remove","data":{"id":"\#(button.name)"}}"#)
        }
        house.wait(.seconds(5))
        #expect(lines("no space for").count == 1)
        #expect(lines("room for all").count == 1)
    }
}
