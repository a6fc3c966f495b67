import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// Properties of a session that hold whatever its button and its owner do.
@Suite("Button session: properties")
struct SessionPropertyTests {
    /// A button that answers requests, late or never, and sends other packets in between.
    private struct World {
        var established: EstablishedTalk
        var generator: SeededGenerator
        /// Requests that the host waits for, by opcode.
        var outstanding: [UInt8] = []
        var most = 0
        var unanswered = 0
        var isOver = false
        var deadline: Instant?
        var timerCount = 0

        mutating func take(_ effects: [ButtonSession.Effect]) {
            for effect in effects {
                #expect(!isOver || effect == .firmwareUpdate(.failed(.interrupted)))
                switch effect {
                case .send(let value):
                    let packet = established.button.open(value)
                    #expect(packet != nil, "what is signed is in order")
                    if let opcode = packet?.opcode, [8, 10, 11, 17, 20, 24, 27].contains(opcode) {
                        outstanding.append(opcode)
                        most = max(most, outstanding.count)
                    }
                case .unanswered(let name):
                    unanswered += 1
                    let opcodes = Self.opcodes[name] ?? []
                    if let index = outstanding.firstIndex(where: opcodes.contains) { outstanding.remove(at: index) }
                case .setTimer(let instant): deadline = instant
                case .cancelTimer: deadline = nil
                case .disconnect: isOver = true
                default: break
                }
            }
        }

        private static let opcodes: [String: [UInt8]] = [
            "SetAdvParametersRequest": [27], "GetBatteryLevelRequest": [20], "GetNameRequest": [11],
            "SetNameRequest": [10], "GetFirmwareVersionRequest": [8], "StartFirmwareUpdateRequest": [17],
            "FactoryResetRequest": [24],
        ]

        mutating func answerOne() {
            guard !outstanding.isEmpty else { return }
            let opcode = outstanding.removeFirst()
            let stamped = ButtonPacket.StampedName(timestamp: 3, name: Array("Hall".utf8))
            let answer: ButtonPacket =
                switch opcode {
                case 8: .getFirmwareVersionResponse(version: 11)
                case 10: .setNameResponse(stamped)
                case 11: .getNameResponse(stamped)
                case 17: .startFirmwareUpdateResponse(position: Int32.random(in: -4...130, using: &generator))
                case 20: .getBatteryLevelResponse(raw: 800)
                // A factory reset is not answered here, because the answer ends the session.
                case 24: .pingRequest
                default: .setAdvertisingParametersResponse
                }
            take(established.receive(answer))
        }

        mutating func say() {
            let counter = UInt32.random(in: 0...40, using: &generator)
            let packet: ButtonPacket =
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: .pingRequest
                case 1: .nameUpdatedNotification(name: generator.bytes(Int.random(in: 0...30, using: &generator)))
                case 2: .firmwareUpdateNotification(position: Int32.random(in: -3...130, using: &generator))
                case 3: .other(opcode: 77)
                default:
                    .buttonEventNotification(
                        EventNotification(
                            eventCount: counter,
                            items: [.init(ticks: 1, code: EventCode(rawValue: UInt8(counter % 16)))]))
                }
            take(established.receive(packet))
        }

        mutating func command(_ image: FirmwareImage) {
            let commands: [ButtonSession.Command] = [
                .setNickname(Nickname("Hall \(Int.random(in: 0..<100, using: &generator))", chosenAt: 1)),
                .setLatencyMode(.low), .setAutoDisconnectTime(60), .updateFirmware(image), .cancelFirmwareUpdate,
                .abortLEDPattern, .factoryReset,
            ]
            guard let command = commands.randomElement(using: &generator) else { return }
            take(established.talk.given(.perform(command)))
        }

        mutating func passTime() {
            established.talk.wait(.milliseconds(Int.random(in: 0...8000, using: &generator)))
            guard let deadline, deadline <= established.talk.now else { return }
            self.deadline = nil
            take(established.talk.given(.timerFired))
        }
    }

    @Test(
        "at most two requests are outstanding, packets are signed in order, and nothing is sent after the end",
        arguments: 0..<40)
    func anything(seed: UInt64) throws {
        let image = try FirmwareImage(FlicPeripheral.firmware(wordCount: 120))
        let established = try #require(EstablishedTalk(advertisingConfigured: false, firmwareVersion: 11))
        var world = World(established: established, generator: SeededGenerator(seed: seed))
        let isPatient = seed % 2 == 0
        // The session has set this deadline already. It does not set it again if the next deadline is the same.
        world.deadline = world.established.talk.machine.timer.armed
        if seed % 3 == 0 { for _ in 0..<5 { world.command(image) } }
        world.take(world.established.initialise(hasQueuedEvents: seed % 4 == 1))
        for _ in 0..<200 {
            switch Int.random(in: 0..<6, using: &world.generator) {
            case 0: world.command(image)
            case 1: world.answerOne()
            case 2: if !isPatient { world.passTime() } else { world.answerOne() }
            case 3:
                world.take(
                    world.established.talk.given(
                        .synced(
                            EventCursor(
                                bootID: TestButton.bootID, eventCount: .random(in: 0...40, using: &world.generator)))))
            default: world.say()
            }
        }
        #expect(world.most == 2)
        if isPatient { #expect(world.unanswered == 0) }
    }

    @Test("after a thousand commands before a session, at most one of each kind is sent")
    func bound() throws {
        let image = try FirmwareImage(FlicPeripheral.firmware(wordCount: 1))
        var generator = SeededGenerator(seed: 7)
        var established = try #require(EstablishedTalk())
        for number in 0..<1000 {
            let commands: [ButtonSession.Command] = [
                .setNickname(Nickname("\(number)", chosenAt: UInt64(number))), .setLatencyMode(.high),
                .setAutoDisconnectTime(UInt16(number)), .updateFirmware(image), .abortLEDPattern, .factoryReset,
            ]
            guard let command = commands.randomElement(using: &generator) else { continue }
            established.talk.given(.perform(command))
        }
        var packets = established.sent(established.initialise())
        for answer in [
            .getBatteryLevelResponse(raw: 1), .setNameResponse(.init(timestamp: 1, name: [])),
            .getFirmwareVersionResponse(version: 11), .startFirmwareUpdateResponse(position: -1),
        ] as [ButtonPacket] {
            packets += established.sent(established.receive(answer))
        }
        #expect(packets.compactMap { $0?.opcode } == [12, 19, 33, 20, 10, 8, 17, 24])
    }
}
