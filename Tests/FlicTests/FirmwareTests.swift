import ButtonModel
import Bytes
import TestSupport
import Testing

@testable import Flic

extension FirmwareTransfer: StateMachine {}

@Suite("Firmware transfer")
struct FirmwareTests {
    private static let image: FirmwareImage? = try? FirmwareImage(FlicPeripheral.firmware(wordCount: 1000))

    private func asked() throws -> Transcript<FirmwareTransfer> {
        let image = try #require(Self.image)
        var talk = Transcript(FirmwareTransfer(image))
        talk.when(
            .mayAsk,
            expect: .send(
                .startFirmwareUpdateRequest(
                    .init(
                        wordCount: 1000, initializationVector: image.header, statusInterval: 60))))
        return talk
    }

    /// The contents of the data packets among the effects.
    private func data(_ effects: [FirmwareTransfer.Effect]) -> [[UInt8]] {
        effects.compactMap { if case .send(.firmwareUpdateData(let data)) = $0 { data } else { nil } }
    }

    @Test("data is sent in packets of thirty words, at most 512 words ahead of the button's progress")
    func window() throws {
        let image = try #require(Self.image)
        var talk = try asked()
        var effects = talk.given(.answered(position: 0))
        #expect(effects.first == .progress(.started(units: 0, of: 1000)))
        #expect(data(effects).map(\.count) == [Int](repeating: 120, count: 17) + [8])
        var sent = data(effects).flatMap(\.self)
        effects = talk.given(.received(position: 60))
        #expect(data(effects).map(\.count) == [120, 120])
        sent += data(effects).flatMap(\.self)
        talk.when(.received(position: 60), expect: .nothing)
        talk.when(.received(position: 59), expect: .nothing)
        talk.when(.received(position: 573), expect: .nothing)
        talk.when(.received(position: -7), expect: .nothing)
        effects = talk.given(.received(position: 572))
        sent += data(effects).flatMap(\.self)
        #expect(sent == image.data)
        talk.when(.received(position: 1000), expect: .progress(.finished))
        talk.when(.received(position: 1000), expect: .nothing)
        talk.when(.cancel, expect: .nothing)
    }

    @Test(
        "a Duo gets five packets of 110 octets ahead of its progress, and a Twist four of 120",
        arguments: [(FlicModel.duo, 5, 110), (.twist, 4, 120)])
    func signedWindow(model: FlicModel, packets: Int, length: Int) throws {
        var talk = Transcript(FirmwareTransfer(try FirmwareImage([UInt8](repeating: 1, count: 2000), for: model)))
        talk.given(.mayAsk)
        func data(_ effects: [FirmwareTransfer.Effect]) -> [Int] {
            effects.compactMap {
                switch $0 {
                case .send(.firmwareUpdateData(let data)), .send(.firmwareUpdateDataDuo(let data)): data.count
                case .send, .progress: nil
                }
            }
        }
        #expect(data(talk.given(.answered(position: 0))) == Array(repeating: length, count: packets))
        #expect(data(talk.given(.received(position: Int32(2 * length)))) == [length, length])
    }

    @Test("an interrupted update continues at the position the button reports")
    func resumption() throws {
        let image = try #require(Self.image)
        var talk = try asked()
        let effects = talk.given(.answered(position: 777))
        #expect(effects.first == .progress(.started(units: 777, of: 1000)))
        #expect(data(effects).flatMap(\.self) == Array(image.data.dropFirst(4 * 777)))
    }

    @Test("an update whose words the button already has waits for the button to finish")
    func nothingLeft() throws {
        var talk = try asked()
        talk.when(.answered(position: 1000), expect: .progress(.started(units: 1000, of: 1000)))
        talk.when(.received(position: 1000), expect: .progress(.finished))
    }

    @Test(
        "each refusal of an update is reported by its name",
        arguments: [
            (-1, .invalidParameters), (-2, .busy), (-3, .waitingForReboot), (-4, .unknown(-4)), (1001, .unknown(1001)),
            (.min, .unknown(.min)),
        ] as [(Int32, FirmwareUpdateFailure)])
    func refusal(position: Int32, failure: FirmwareUpdateFailure) throws {
        var talk = try asked()
        talk.when(.answered(position: position), expect: .progress(.failed(failure)))
        #expect(talk.machine.hasEnded)
    }

    @Test("progress of zero words after data means that the image's signature is wrong")
    func signature() throws {
        var talk = try asked()
        talk.given(.answered(position: 0))
        talk.when(.received(position: 0), expect: .progress(.failed(.signatureInvalid)))
    }

    @Test("an update without progress for thirty seconds fails")
    func silence() throws {
        var talk = try asked()
        talk.given(.answered(position: 0))
        talk.wait(.seconds(29))
        talk.given(.received(position: 60))
        talk.wait(.milliseconds(29_999))
        talk.when(.timerFired, expect: .nothing)
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .progress(.failed(.timedOut)))
    }

    @Test("random inputs never make a transfer send a word twice or end twice", arguments: 0..<100)
    func noise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var talk = try asked()
        var sent = 0
        var ends = 0
        var start: Int?
        for _ in 0..<100 {
            let position = Int32.random(in: -5...1005, using: &generator)
            let input: FirmwareTransfer.Input =
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: .unanswered
                case 1: .mayAsk
                case 2: .cancel
                case 3: .timerFired
                case 4...7: .answered(position: position)
                default: .received(position: position == 0 && Bool.random(using: &generator) ? 1 : position)
                }
            for effect in talk.given(input) {
                switch effect {
                case .send(.firmwareUpdateData(let data)):
                    #expect(ends == 0 && data.count.isMultiple(of: 4) && (4...120).contains(data.count))
                    sent += data.count / 4
                case .send(let packet): #expect(ends == 0, "\(packet)")
                case .progress(.started(let words, _)): start = words
                case .progress(.received): break
                case .progress(.finished), .progress(.failed): ends += 1
                }
            }
            talk.wait(.milliseconds(Int.random(in: 0...3000, using: &generator)))
        }
        #expect(ends <= 1 && sent <= 1000 - (start ?? 1000))
    }

    @Test("an image needs a vector and whole words, and has at most 65535 words")
    func image() throws {
        #expect(throws: FirmwareImage.InvalidImage.tooShort) { try FirmwareImage([UInt8](repeating: 0, count: 11)) }
        #expect(throws: FirmwareImage.InvalidImage.notWords(octets: 5)) {
            try FirmwareImage([UInt8](repeating: 0, count: 13))
        }
        let most = 8 + 4 * FirmwareFormat(.flic2).maximumUnitCount
        #expect(try FirmwareImage([UInt8](repeating: 0, count: most)).unitCount == 65_535)
        #expect(throws: FirmwareImage.InvalidImage.tooLong(octets: most - 4)) {
            try FirmwareImage([UInt8](repeating: 0, count: most + 4))
        }
    }
}

@Suite("Firmware update in a session")
struct FirmwareSessionTests {
    private func settled() throws -> EstablishedTalk {
        var established = try #require(EstablishedTalk())
        _ = established.sent(established.initialise())
        _ = established.sent(established.receive(.getBatteryLevelResponse(raw: 860)))
        _ = established.sent(established.receive(.getNameResponse(.init(timestamp: 0, name: []))))
        _ = established.sent(established.receive(.getFirmwareVersionResponse(version: 11)))
        return established
    }

    private func image() throws -> FirmwareImage { try FirmwareImage(FlicPeripheral.firmware(wordCount: 100)) }

    @Test("an update runs from its command to the button's restart, while presses and pings go on")
    func success() throws {
        var established = try settled()
        var effects = try established.talk.given(.perform(.updateFirmware(image())))
        guard case .startFirmwareUpdateRequest? = established.sent(effects).first ?? nil else {
            Issue.record("\(effects)")
            return
        }
        effects = established.receive(.startFirmwareUpdateResponse(position: 0))
        #expect(established.sent(effects).count == 4)
        // Pings and acknowledgements do not wait for the update.
        #expect(established.sent(established.receive(.pingRequest)) == [.pingResponse])
        _ = established.receive(11, 10)
        effects = established.talk.given(.synced(EventCursor(bootID: TestButton.bootID, eventCount: 11)))
        #expect(established.sent(effects) == [.acknowledgeEvents(eventCount: 11)])
        effects = established.receive(.firmwareUpdateNotification(position: 100))
        #expect(established.sent(effects) == [.forceDisconnect(advertiseAgain: true)])
        #expect(Array(effects.dropFirst().prefix(1)) == [.firmwareUpdate(.finished)])
        #expect(established.talk.given(.linkLost) == [.cancelTimer])
    }

    @Test("a second update is refused until the first is cancelled, and the first's late answer is ignored")
    func cancellation() throws {
        var established = try settled()
        _ = try established.sent(established.talk.given(.perform(.updateFirmware(image()))))
        let busy = try established.talk.given(.perform(.updateFirmware(image())))
        #expect(busy == [.firmwareUpdate(.failed(.busy))])
        #expect(established.talk.given(.perform(.cancelFirmwareUpdate)) == [.firmwareUpdate(.failed(.cancelled))])
        #expect(established.talk.given(.perform(.cancelFirmwareUpdate)) == [])
        #expect(try established.talk.given(.perform(.updateFirmware(image()))) == [])
        let effects = established.receive(.startFirmwareUpdateResponse(position: 0))
        guard case .startFirmwareUpdateRequest? = established.sent(effects).first ?? nil else {
            Issue.record("\(effects)")
            return
        }
        #expect(established.sent(established.receive(.startFirmwareUpdateResponse(position: 30))).count == 3)
    }

    @Test("an update cancelled before the session is ready sends nothing to the button")
    func earlyCancellation() throws {
        var established = try #require(EstablishedTalk())
        #expect(try established.talk.given(.perform(.updateFirmware(image()))) == [])
        #expect(established.talk.given(.perform(.cancelFirmwareUpdate)) == [.firmwareUpdate(.failed(.cancelled))])
        let sent = established.sent(established.initialise())
        #expect(sent.count == 3)
    }

    @Test("an update request without answer for thirty seconds fails the update")
    func unanswered() throws {
        var established = try settled()
        _ = try established.sent(established.talk.given(.perform(.updateFirmware(image()))))
        established.talk.wait(.seconds(30))
        #expect(
            Array(established.talk.given(.timerFired).prefix(2)) == [
                .unanswered("StartFirmwareUpdateRequest"), .firmwareUpdate(.failed(.timedOut)),
            ])
    }

    @Test("an update without progress for thirty seconds fails, and the session goes on")
    func silence() throws {
        var established = try settled()
        _ = try established.sent(established.talk.given(.perform(.updateFirmware(image()))))
        _ = established.sent(established.receive(.startFirmwareUpdateResponse(position: 0)))
        established.talk.wait(.seconds(30))
        #expect(established.talk.given(.timerFired).first == .firmwareUpdate(.failed(.timedOut)))
        #expect(established.sent(established.receive(.pingRequest)) == [.pingResponse])
        #expect(
            established.receive(.firmwareUpdateNotification(position: 60)) == [
                .ignored(reason: "firmware progress without an update")
            ])
    }

    @Test("the end of the session or of the link fails the update as interrupted")
    func interruption() throws {
        for isLinkLost in [true, false] {
            var established = try settled()
            _ = try established.sent(established.talk.given(.perform(.updateFirmware(image()))))
            _ = established.sent(established.receive(.startFirmwareUpdateResponse(position: 0)))
            let effects =
                isLinkLost
                ? established.talk.given(.linkLost) : established.receive(.disconnectedVerifiedLink(reason: 0))
            #expect(effects.first == .firmwareUpdate(.failed(.interrupted)))
        }
    }
}
