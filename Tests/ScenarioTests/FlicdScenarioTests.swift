import ButtonModel
import FlicdProtocol
import Hub
import Simulator
import TestSupport
import Testing

@Suite("Clients of flicd in a house with buttons")
struct FlicdScenarioTests {
    private static let kitchen = BluetoothAddress(rawValue: 0x80E4_DA00_0001)
    private static let hall = BluetoothAddress(rawValue: 0x80E4_DA00_0002)

    /// Clients 1 to 4 are connected. Both buttons are paired if `isPaired` is true.
    private static func house(
        isPaired: Bool = true, _ buttons: [SimulatedButtonDescription] = [Household.kitchen, Household.hall]
    ) -> Household {
        var house = Household(buttons, servesFlicd: true)
        house.wait(.seconds(1))
        for client in 1...4 {
            house.tell(.flicd(.connected(.init(rawValue: UInt64(client)), peer: "127.0.0.1:\(client)")))
        }
        if isPaired { house.pairAll() }
        house.forgetWhatHappened()
        return house
    }

    private func ask(_ house: inout Household, _ client: UInt64, _ commands: FlicdCommand...) {
        house.tell(.flicd(.received(.init(rawValue: client), commands.flatMap { $0.encoded() })))
    }

    private func heard(_ house: Household, by client: UInt64 = 1) -> [FlicdEvent] {
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        for case .send(let to, let octets) in house.flicdOrders where to.rawValue == client { framer.append(octets) }
        var events: [FlicdEvent] = []
        while let packet = try? framer.next() {
            if let event = try? FlicdEvent(decoding: packet) { events.append(event) }
        }
        return events
    }

    private func hasClicked(_ house: Household) -> Bool {
        heard(house).contains(.button(id: 7, .clickOrHold, .buttonClick, wasQueued: false, timeDifference: 0))
    }

    private func sends(_ house: Household) -> Int { house.journal.count { $0 == "send" } }

    private func channel(_ house: inout Household, latency: LatencyMode = .normal) {
        ask(&house, 1, .createConnectionChannel(id: 7, Self.kitchen, FlicdChannelMode(latencyMode: latency)))
    }

    @Test("a scan wizard pairs a button, and a channel receives a press after it is recorded and before it is synced")
    func press() {
        var house = Self.house(isPaired: false, [Household.kitchen])
        ask(&house, 1, .createScanWizard(id: 3))
        house.wait(.seconds(15))
        #expect(
            heard(house) == [
                .scanWizardFoundPublicButton(id: 3, Self.kitchen, name: heard(house).first?.name ?? "-"),
                .scanWizardButtonConnected(id: 3), .scanWizardCompleted(id: 3, .success),
                .newVerifiedButton(Self.kitchen),
            ])
        #expect(heard(house, by: 2) == [.newVerifiedButton(Self.kitchen)])
        channel(&house)
        house.forgetWhatHappened()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        let types = heard(house).compactMap {
            if case .button(7, let family, let type, false, 0) = $0 { "\(family) \(type)" } else { nil }
        }
        #expect(
            types == [
                "upOrDown buttonDown", "upOrDown buttonUp", "clickOrHold buttonClick",
                "singleOrDoubleClick buttonSingleClick", "singleOrDoubleClickOrHold buttonSingleClick",
            ])
        #expect(
            house.journal.filter { ["record", "flicd", "sync"].contains($0) }.prefix(3) == ["record", "flicd", "sync"])
        #expect(heard(house, by: 2).isEmpty)
    }

    @Test("a thousand mode changes a second cause few packets to the button, and lose no press")
    func modes() {
        var house = Self.house()
        channel(&house)
        house.wait(.seconds(5))
        house.forgetWhatHappened()
        for turn in 0..<10_000 {
            let mode = FlicdChannelMode(
                latencyMode: turn.isMultiple(of: 2) ? .low : .high, autoDisconnectTime: UInt16(400 + turn % 100))
            ask(&house, 1, .changeModeParameters(id: 7, mode))
            if turn == 5000 { house.press("kitchen", .click) }
            house.wait(.milliseconds(1))
        }
        #expect(sends(house) < 60, "\(sends(house))")
        house.wait(.seconds(5))
        #expect(hasClicked(house))
        #expect(!heard(house).contains { if case .connectionStatusChanged = $0 { true } else { false } })
        #expect(house.world.violations.isEmpty)
    }

    @Test("scanners, wizards and channels that come and go cause few commands to the controller, and lose no press")
    func searches() {
        var house = Self.house()
        channel(&house)
        house.wait(.seconds(5))
        house.forgetWhatHappened()
        for turn in 0..<UInt32(10_000) {
            ask(&house, 1, .createScanner(id: turn))
            ask(&house, 2, .createScanWizard(id: turn))
            let address = BluetoothAddress(rawValue: UInt64(turn))
            ask(&house, 3, .createConnectionChannel(id: turn, address, FlicdChannelMode()))
            ask(&house, 1, .removeScanner(id: turn))
            ask(&house, 2, .cancelScanWizard(id: turn))
            ask(&house, 3, .removeConnectionChannel(id: turn))
            if turn == 5000 { house.press("kitchen", .click) }
            house.wait(.milliseconds(1))
        }
        #expect(sends(house) < 100, "\(sends(house))")
        #expect(hasClicked(house))
        #expect(house.world.violations.isEmpty)
        #expect(house.journal.count { $0 == "record" } < 10)
    }

    @Test("a button that is deleted while connected is removed from the store, and can be paired again immediately")
    func delete() {
        var house = Self.house()
        channel(&house)
        ask(&house, 2, .deleteButton(Self.kitchen))
        #expect(
            heard(house).suffix(2) == [
                .connectionChannelRemoved(id: 7, .deletedByOtherClient),
                .buttonDeleted(Self.kitchen, byThisClient: false),
            ])
        #expect(heard(house, by: 2) == [.buttonDeleted(Self.kitchen, byThisClient: true)])
        #expect(house.store.state.buttons.map(\.identity.address) == [Self.hall])
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        #expect(!heard(house).contains { if case .button = $0 { true } else { false } })
        house.forgetWhatHappened()
        house.press("kitchen", .makePublic)
        channel(&house, latency: .low)
        house.wait(.seconds(40))
        #expect(house.store.state.buttons.count == 2)
        #expect(
            heard(house).prefix(4) == [
                .createConnectionChannelResponse(id: 7, error: .noError, .disconnected),
                .connectionStatusChanged(id: 7, .connected, reason: .unspecified),
                .connectionStatusChanged(id: 7, .ready, reason: .unspecified), .newVerifiedButton(Self.kitchen),
            ])
    }

    @Test("connections end before clients are informed of a lost adapter, and channels connect again when it is back")
    func adapter() {
        var house = Self.house()
        channel(&house)
        house.forgetWhatHappened()
        house.unplugAdapter()
        ask(&house, 2, .createScanWizard(id: 1))
        house.wait(.seconds(40))
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        let told = heard(house).filter { if case .button = $0 { false } else { true } }
        #expect(
            told == [
                .connectionStatusChanged(id: 7, .disconnected, reason: .timedOut),
                .bluetoothControllerStateChange(.detached), .bluetoothControllerStateChange(.resetting),
                .bluetoothControllerStateChange(.attached),
                .connectionStatusChanged(id: 7, .connected, reason: .unspecified),
                .connectionStatusChanged(id: 7, .ready, reason: .unspecified),
            ])
        #expect(heard(house, by: 2).contains(.scanWizardCompleted(id: 1, .bluetoothUnavailable)))
    }

    @Test("a wizard for a button that is connected elsewhere fails, after it has run for two seconds")
    func taken() {
        var taken = Household.kitchen
        taken.isConnectedElsewhere = true
        var house = Self.house(isPaired: false, [taken])
        ask(&house, 1, .createScanWizard(id: 3))
        house.wait(.milliseconds(1999))
        #expect(heard(house).count == 1)
        house.wait(.milliseconds(1))
        #expect(heard(house).last == .scanWizardCompleted(id: 3, .buttonAlreadyConnectedToOtherDevice))
    }
}

extension FlicdEvent {
    fileprivate var name: String? { if case .scanWizardFoundPublicButton(_, _, let name) = self { name } else { nil } }
}
