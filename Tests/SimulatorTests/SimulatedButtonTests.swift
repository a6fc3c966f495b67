import BluetoothHost
import ButtonModel
import Simulator
import Testing

/// A simulated button and a separate controller, connected by the test.
@Suite("Simulated button behind a foreign controller")
struct SimulatedButtonTests {
    struct Pair {
        var now = Instant(sinceBoot: .zero)
        var button: SimulatedButton
        var controller: VirtualController
        var deadline: Instant?
        var notes: [String] = []
        var failures: [String] = []
        var finished: [SimulatedPress] = []
        /// The commands for the controller.
        var commands: [[UInt8]] = []

        init(_ description: SimulatedButtonDescription, _ controller: VirtualController.Configuration) {
            button = SimulatedButton(description, seed: 1, at: now)
            self.controller = VirtualController(controller)
        }

        mutating func tell(_ input: SimulatedButton.Input) {
            var inputs = [input]
            while !inputs.isEmpty {
                for effect in button.handle(inputs.removeFirst(), at: now) {
                    switch effect {
                    case .send(let packet):
                        commands.append(packet)
                        for case .send(let answer) in controller.handle(.received(packet), at: now) {
                            inputs.append(.received(answer))
                        }
                    case .setTimer(let instant): deadline = instant
                    case .cancelTimer: deadline = nil
                    case .pressFinished(let press): finished.append(press)
                    case .note(let text): notes.append(text)
                    case .failed(let text): failures.append(text)
                    }
                }
            }
        }

        mutating func run(_ duration: Duration) {
            let end = now + duration
            while let next = deadline, next <= end {
                now = next
                deadline = nil
                tell(.timerFired)
            }
            now = end
        }
    }

    static let kitchen = SimulatedButtonDescription(name: "kitchen", address: peripheralAddress)

    @Test("a button uses the controller's address if it is the wanted one, and else a static random address")
    func address() throws {
        var own = Pair(Self.kitchen, .init(address: peripheralAddress))
        #expect(own.button.address == nil)
        own.tell(.transportOpened)
        #expect(own.button.address == peripheralAddress)
        #expect(own.notes.last == "advertising, public")

        var foreign = Pair(Self.kitchen, .init(address: centralAddress))
        foreign.tell(.transportOpened)
        let random = try #require(BluetoothAddress("C0:E4:DA:01:02:03", kind: .random))
        #expect(foreign.button.address == random)
        #expect(foreign.commands.contains(Packet.command(.leSetRandomAddress, random.wireOctets)))
        #expect(foreign.notes.first?.hasPrefix("C0:E4:DA:01:02:03 (random), serial BA00-") == true)
    }

    @Test("a press before the controller is set up is performed afterwards")
    func earlyPress() {
        var pair = Pair(Self.kitchen, .init(address: peripheralAddress))
        pair.tell(.press(.click))
        #expect(pair.notes.isEmpty)
        pair.tell(.transportOpened)
        pair.run(.seconds(1))
        #expect(pair.finished == [.click])
        #expect(pair.notes.dropFirst() == ["down", "advertising, public", "up"])
    }

    @Test("the 65th waiting press is refused with a note", arguments: [false, true])
    func tooManyPresses(_ isUp: Bool) {
        var pair = Pair(Self.kitchen, .init(address: peripheralAddress))
        if isUp { pair.tell(.transportOpened) }
        // A press that has begun still counts as waiting until it ends.
        for _ in 0...SimulatedButton.maximumQueuedPresses { pair.tell(.press(.hold)) }
        #expect(pair.notes.last == "too many presses are waiting; hold was discarded")
    }

    @Test("a controller that does not answer is reported")
    func silentController() {
        var configuration = VirtualController.Configuration(address: centralAddress)
        configuration.faults.isSilent = true
        var pair = Pair(Self.kitchen, configuration)
        pair.tell(.transportOpened)
        pair.run(.seconds(60))
        #expect(pair.failures == [String(describing: ControllerFailure.noAnswer(.reset))])
    }

    @Test("a controller that refuses to advertise is reported")
    func refused() {
        var configuration = VirtualController.Configuration(address: centralAddress)
        configuration.faults.unknownCommands = [.leSetAdvertisingEnable]
        var pair = Pair(Self.kitchen, configuration)
        pair.tell(.transportOpened)
        #expect(pair.notes.last == "the controller refused to advertise: 0x01")
        #expect(pair.commands.filter { $0 == Packet.advertise }.count == 1)
    }

    @Test("public mode after a hold lasts 30 s; after the minute of the press the button is silent and sets no timer")
    func silence() {
        var hidden = Self.kitchen
        hidden.isPublic = false
        var pair = Pair(hidden, .init(address: peripheralAddress))
        pair.tell(.transportOpened)
        #expect(pair.deadline == nil)
        pair.tell(.press(.makePublic))
        pair.run(.seconds(100))
        #expect(
            pair.notes.dropFirst() == ["down", "advertising", "advertising, public", "up", "advertising", "silent"])
        #expect(pair.deadline == nil)
    }

    @Test("a button advertises again when its transport is closed and opened")
    func reopened() {
        var pair = Pair(Self.kitchen, .init(address: peripheralAddress))
        pair.tell(.transportOpened)
        pair.tell(.transportClosed)
        pair.commands.removeAll()
        pair.tell(.transportOpened)
        #expect(pair.commands.contains(Packet.advertise))
        #expect(pair.failures.isEmpty)
    }
}
