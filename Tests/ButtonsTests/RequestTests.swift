import ButtonModel
import Buttons
import Flic
import Simulator
import TestSupport
import Testing

@Suite("What is asked of a known button")
struct RequestTests {
    static let id = KnownButtonTests.id

    static func firmware(_ room: Room) -> [FirmwareProgress] {
        room.said.compactMap { if case .firmwareUpdate(id, let progress) = $0 { progress } else { nil } }
    }

    @Test("a nickname reaches the button, also one that was chosen while it was away")
    func nickname() {
        var room = KnownButtonTests.paired()
        room.tell(
            .request(Self.id, .setNickname("Küchentür im Erdgeschoss", at: UTCTime(milliseconds: 1_800_000_000_000))))
        room.wait(.seconds(5))
        #expect(room.said.contains(.nickname(Self.id, "Küchentür im Erdgesch")))
        #expect(room.manager.knownButton(Self.id)?.settings.nicknameChosenAt == nil)

        room.reach("hall", false)
        room.wait(.seconds(30))
        room.forget()
        room.tell(.request(Self.id, .setNickname("Attic", at: UTCTime(milliseconds: 1_800_000_100_000))))
        #expect(room.manager.knownButton(Self.id)?.identity.nickname == "Attic")
        #expect(room.manager.knownButton(Self.id)?.settings.nicknameChosenAt == 1_800_000_100_000)
        room.reach("hall", true)
        room.press("hall", .click)
        room.wait(.seconds(20))
        #expect(room.said.contains(.nickname(Self.id, "Attic")))
        #expect(room.manager.knownButton(Self.id)?.settings.nicknameChosenAt == nil)
    }

    @Test("firmware is transferred, the button restarts with it and is ready again")
    func update() {
        var room = KnownButtonTests.paired()
        room.tell(.request(Self.id, .updateFirmware(FlicPeripheral.firmware(wordCount: 2000))))
        room.wait(.seconds(120))
        let progress = Self.firmware(room)
        #expect(progress.first == .transferring(percentage: 0) && progress.last == .finished)
        #expect(progress.contains { $0 >= 40 && $0 < 60 })
        room.press("hall", .click)
        room.wait(.seconds(20))
        #expect(room.manager.state(of: Self.id) == .ready)
        #expect(room.manager.knownButton(Self.id)?.identity.firmwareVersion == 12)
    }

    @Test("an update that is cut off goes on where it was")
    func resume() {
        var room = KnownButtonTests.paired()
        room.tell(.request(Self.id, .updateFirmware(FlicPeripheral.firmware(wordCount: 20_000))))
        while Self.firmware(room).last.map({ $0 < 40 }) ?? true { room.wait(.milliseconds(10)) }
        room.reach("hall", false)
        room.wait(.seconds(30))
        #expect(Self.firmware(room).last == .waiting)
        room.forget()
        room.reach("hall", true)
        room.press("hall", .click)
        room.wait(.seconds(600))
        let progress = Self.firmware(room)
        #expect(progress.first.map { $0 >= 35 } ?? false, "\(String(describing: progress.first))")
        #expect(progress.last == .finished)
    }

    @Test("data that is no image, and an image with an invalid signature, are refused with the reason")
    func badImages() {
        var room = KnownButtonTests.paired()
        room.tell(.request(Self.id, .updateFirmware([1, 2, 3])))
        room.tell(.request(Self.id, .updateFirmware([UInt8](repeating: 0, count: 4007))))
        room.tell(.request(Self.id, .updateFirmware([UInt8](repeating: 0, count: 300_000))))
        #expect(Self.firmware(room).map(\.failure) == ["invalid_image", "invalid_image", "invalid_image"])
        room.forget()
        var forged = FlicPeripheral.firmware(wordCount: 500)
        forged[100] ^= 1
        room.tell(.request(Self.id, .updateFirmware(forged)))
        room.wait(.seconds(60))
        #expect(Self.firmware(room).last?.failure == "signature_invalid")
        room.press("hall", .click)
        room.wait(.seconds(5))
        #expect(room.manager.state(of: Self.id) == .ready && !room.steps.isEmpty)
    }

    @Test("a second image while one is on its way is refused, and the first can be taken back")
    func cancel() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(30))
        let image = FlicPeripheral.firmware(wordCount: 500)
        room.tell(.request(Self.id, .updateFirmware(image)))
        room.tell(.request(Self.id, .updateFirmware(image)))
        room.tell(.request(Self.id, .cancelFirmwareUpdate))
        #expect(Self.firmware(room).map(\.failure) == [nil, "busy", "cancelled"])
        room.forget()
        room.reach("hall", true)
        room.press("hall", .click)
        room.wait(.seconds(60))
        #expect(room.manager.state(of: Self.id) == .ready)
        #expect(Self.firmware(room) == [])
    }

    @Test("a button that is reset from here is not known any more, and can be paired again")
    func factoryReset() {
        var room = KnownButtonTests.paired()
        room.tell(.request(Self.id, .factoryReset))
        room.wait(.seconds(20))
        #expect(room.said.count { $0 == .unpaired(Self.id) } == 1)
        #expect(room.manager.knownButtons.isEmpty)
    }

    @Test("let be, it is disconnected and stays so; wanted again, its next press connects it")
    func letBe() {
        var room = KnownButtonTests.paired()
        room.tell(.request(Self.id, .setConnectionWanted(false)))
        room.wait(.seconds(10))
        #expect(room.states(of: Self.id) == [.disconnecting, .disconnected])
        room.press("hall", .click)
        room.wait(.seconds(30))
        #expect(room.manager.state(of: Self.id) == .disconnected && room.steps.isEmpty)
        room.tell(.request(Self.id, .setConnectionWanted(true)))
        room.press("hall", .click)
        room.wait(.seconds(30))
        #expect(room.manager.state(of: Self.id) == .ready)
        #expect(room.steps.count { $0 == .down } == 2, "the stored press came as well")
    }

    @Test("at the end every button is let go, and is there again for who comes next")
    func shutDown() {
        var room = KnownButtonTests.paired()
        room.tell(.shutDown)
        room.wait(.seconds(1))
        #expect(room.said.last == .allDisconnected)
        #expect(room.states(of: Self.id) == [.disconnecting, .disconnected])
        room.press("hall", .click)
        room.wait(.seconds(10))
        #expect(room.manager.state(of: Self.id) == .disconnected, "nothing is connected any more")
        #expect(room.said.count { $0 == .allDisconnected } == 1)
    }

    @Test("a button that does not answer holds the end up for three seconds at most; with none connected it is at once")
    func shutDownOutOfReach() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.tell(.shutDown)
        room.wait(.milliseconds(2999))
        #expect(!room.said.contains(.allDisconnected))
        room.wait(.milliseconds(1))
        #expect(room.said.count { $0 == .allDisconnected } == 1)
        room.wait(.seconds(60))
        #expect(room.said.count { $0 == .allDisconnected } == 1)

        room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(60))
        room.tell(.shutDown)
        #expect(room.said.last == .allDisconnected)
    }

    @Test("a latency mode and an auto-disconnect time are sent to a button that is ready, and at its next session")
    func settings() {
        var room = KnownButtonTests.paired()
        room.tell(.request(Self.id, .setLatencyMode(.low)))
        room.tell(.request(Self.id, .setAutoDisconnectTime(40)))
        room.wait(.seconds(120))
        // The button was not pressed.
        #expect(room.manager.state(of: Self.id) == .connecting)
        room.press("hall", .click)
        room.wait(.seconds(10))
        #expect(room.manager.state(of: Self.id) == .ready)
        room.wait(.seconds(60))
        #expect(room.manager.state(of: Self.id) == .connecting)
    }
}

extension FirmwareProgress {
    fileprivate var failure: String? { if case .failed(let name, _) = self { name } else { nil } }

    fileprivate static func < (progress: FirmwareProgress, percentage: Int) -> Bool {
        if case .transferring(let done) = progress { done < percentage } else { false }
    }

    fileprivate static func >= (progress: FirmwareProgress, percentage: Int) -> Bool {
        if case .transferring(let done) = progress { done >= percentage } else { false }
    }
}
