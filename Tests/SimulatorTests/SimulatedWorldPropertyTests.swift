import BluetoothHost
import ButtonModel
import Simulator
import TestSupport
import Testing

@Suite("Simulated world: properties")
struct SimulatedWorldPropertyTests {
    @Test(
        "random packets, presses and reachability never trap, and every answer is an HCI event or data",
        arguments: UInt64(0)..<20)
    func randomInputs(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var now = Instant(sinceBoot: .zero)
        var world = SimulatedWorld(
            [.init(name: "kitchen", address: peripheralAddress), .init(name: "hall", isPublic: false)], seed: seed,
            at: now)
        var effects: [SimulatedWorld.Effect] = []
        for packet in Packet.unmask + [Packet.accept(peripheralAddress), Packet.createConnection(to: nil)] {
            effects += world.handle(.received(packet), at: now)
        }
        now = now + .milliseconds(100)
        effects += world.handle(.timerFired, at: now)
        #expect(effects.contains(.note(button: "kitchen", "connected")))

        let commands = [
            Packet.scanParameters, Packet.scan(), Packet.createConnection(to: nil), Packet.disconnect(0x40),
        ]
        for _ in 0..<400 {
            let input: SimulatedWorld.Input =
                switch random.next() % 8 {
                case 0: .received(random.bytes(Int(random.next() % 48)))
                case 1: .received(Packet.acl(0x40, random.bytes(Int(random.next() % 28))))
                // A frame for the attribute protocol whose inside is anything.
                case 2: .received(Packet.acl(0x40, [3, 0, 4, 0] + random.bytes(3)))
                case 3: .press(button: "kitchen", SimulatedPress.allCases.randomElement(using: &random) ?? .click)
                case 4: .setReachable(button: "hall", random.next() % 2 == 0)
                case 5 where random.next() % 8 == 0: .received(commands.randomElement(using: &random) ?? [])
                default: .timerFired
                }
            for case .send(let packet, _) in world.handle(input, at: now) {
                #expect(packet.first == 0x04 || packet.first == 0x02)
            }
            now = now + .milliseconds(Int64(random.next() % 400))
        }
        #expect(world.violations.count <= SimulatedWorld.maximumViolations)
    }

    @Test("an unknown button is reported, and nothing else happens")
    func unknownButton() {
        let now = Instant(sinceBoot: .zero)
        var world = SimulatedWorld([], seed: 1, at: now)
        let effects =
            world.handle(.press(button: "attic", .click), at: now)
            + world.handle(.setReachable(button: "attic", false), at: now)
        #expect(effects == [.unknownButton("attic"), .unknownButton("attic")])
    }

    @Test("violations of the host are recorded, up to the maximum")
    func violations() {
        let now = Instant(sinceBoot: .zero)
        var world = SimulatedWorld([], seed: 1, at: now)
        for _ in 0...SimulatedWorld.maximumViolations { _ = world.handle(.received([0x07]), at: now) }
        #expect(world.violations.count == SimulatedWorld.maximumViolations)
        #expect(world.violations.first == "a packet that is neither command nor data: 07")
    }

    @Test("a machine that stands still for 1.4 s does not change what a finger does, nor when")
    func lateTimers() {
        let start = Instant(sinceBoot: .zero)
        var world = SimulatedWorld([.init(name: "a"), .init(name: "b")], seed: 1, at: start)
        var effects = world.handleInTime(.press(button: "a", .hold), at: start)
        effects += world.handleInTime(.press(button: "b", .doubleClick), at: start)
        // The hold takes 1.3 s, the double click 0.3 s.
        effects += world.handleInTime(.timerFired, at: start + .milliseconds(1400))
        let movements = effects.compactMap { effect -> String? in
            guard case .note(let button, let text) = effect, ["down", "up"].contains(text) else { return nil }
            return "\(button) \(text)"
        }
        #expect(movements == ["a down", "b down", "b up", "b down", "b up", "a up"])
    }
}
