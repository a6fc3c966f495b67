import ButtonModel
import Buttons
import Flic
import Simulator
import Testing

@Suite("Those who listen for as long as they like")
struct ListeningTests {
    static let hall = PairingTests.hall
    static let hallID = ButtonID(hall.wantedAddress)
    static let kitchen = SimulatedButtonDescription(name: "kitchen", address: BluetoothAddress("80:E4:DA:00:00:04"))
    static let kitchenID = ButtonID(kitchen.wantedAddress)
    /// A scan interval of 600 ms, of which the radio listens for 60.
    static let background: UInt16 = 0x03C0
    static let active: UInt16 = 0x0060

    private static func heard(_ room: Room) -> [ButtonAdvertisement] {
        room.said.compactMap { if case .advertised(let heard) = $0 { heard } else { nil } }
    }

    @Test("only the wanted button is paired, when it is in public mode, and no search is reported")
    func targeted() throws {
        var room = Room([Self.hall, Self.kitchen])
        room.tell(.listen(ButtonListening(pairs: [Self.hallID])))
        #expect(!room.manager.isSearching && room.manager.searchEnd == nil)
        room.wait(.seconds(60))
        let address = Self.hall.wantedAddress
        let identity = try #require(room.manager.knownButton(Self.hallID)?.identity)
        #expect(
            room.progress == [
                .foundPublic(address), .connecting(address), .connected(address), .verifying(address),
                .paired(identity),
            ])
        #expect(room.manager.knownButtons.count == 1)
        #expect(Self.heard(room).contains { $0.address == Self.kitchen.wantedAddress && $0.isPublic })
        // The end of listening reports nothing, because the button is paired.
        room.tell(.listen(ButtonListening()))
        room.forget()
        room.wait(.seconds(60))
        #expect(room.said.isEmpty && room.scans.isEmpty)
        #expect(room.world.violations.isEmpty)
    }

    @Test("without a candidate, the scan window is a tenth of the interval; with one, it is the whole interval")
    func duty() {
        var room = Room([PairingTests.attic])
        room.tell(.listen(ButtonListening(pairsAny: true)))
        room.press("attic", .click)
        room.wait(.seconds(10))
        #expect(room.scans == [Self.background])
        room.press("attic", .makePublic)
        room.wait(.seconds(30))
        #expect(room.manager.knownButtons.count == 1)
        #expect(room.scans == [Self.background, nil, Self.active, nil, Self.background])
        room.tell(.listen(ButtonListening()))
        room.wait(.seconds(1))
        #expect(room.scans.last == .some(nil))
    }

    @Test("a search without an address pairs one button after another")
    func any() {
        var room = Room([Self.hall, Self.kitchen])
        room.tell(.listen(ButtonListening(pairsAny: true)))
        room.wait(.seconds(60))
        #expect(Set(room.manager.knownButtons.map(\.id)) == [Self.hallID, Self.kitchenID])
        #expect(room.manager.knownButtons.allSatisfy { room.manager.state(of: $0.id) == .ready })
    }

    @Test("`reportsAll` scans without pauses and reports known buttons, too; a pairing reports only unknown ones")
    func reports() {
        var room = Room([Self.hall, PairingTests.attic])
        room.tell(.listen(ButtonListening(pairs: [Self.hallID])))
        room.wait(.seconds(10))
        room.tell(.request(Self.hallID, .setConnectionWanted(false)))
        room.wait(.seconds(10))
        room.forget()
        room.press("hall", .click)
        room.press("attic", .click)
        room.wait(.seconds(20))
        #expect(!Self.heard(room).contains { $0.address == Self.hall.wantedAddress })
        room.forget()
        room.tell(.listen(ButtonListening(reportsAll: true)))
        room.press("hall", .click)
        room.press("attic", .click)
        room.wait(.seconds(20))
        #expect(room.scans == [nil, Self.active])
        let known = Self.heard(room).filter { $0.address == Self.hall.wantedAddress }
        let strangers = Self.heard(room).filter { $0.address == PairingTests.attic.wantedAddress }
        #expect(!known.isEmpty && !strangers.isEmpty)
        #expect(strangers.allSatisfy { !$0.isPublic && $0.name.isEmpty })
        #expect(room.progress.isEmpty, "no pairing was requested")
    }

    @Test("wanted no more at any moment, it is not paired from there on, and that is said once", arguments: 1...40)
    func takenBack(step: Int) {
        var room = Room([Self.hall])
        room.tell(.listen(ButtonListening(pairs: [Self.hallID])))
        room.wait(.milliseconds(100 * step))
        let known = room.manager.knownButtons.map(\.id)
        let isUnderway = known.isEmpty && !room.progress.isEmpty
        room.tell(.listen(ButtonListening(pairs: [Self.kitchenID])))
        room.wait(.seconds(60))
        #expect(room.manager.knownButtons.map(\.id) == known)
        #expect(room.said.count { $0 == .abandoned(Self.hall.wantedAddress) } == (isUnderway ? 1 : 0))
    }

    @Test("a search of the house takes over what was found, and hands it back when it is stopped", arguments: 1...30)
    func handedBack(step: Int) {
        var room = Room([Self.hall])
        room.tell(.listen(ButtonListening(pairs: [Self.hallID])))
        room.wait(.milliseconds(50 * step))
        room.tell(.permitJoin(.seconds(60)))
        room.wait(.milliseconds(50 * step))
        room.tell(.stopJoin)
        #expect(!room.manager.isSearching)
        room.wait(.seconds(30))
        #expect(room.manager.knownButtons.map(\.id) == [Self.hallID])
        #expect(room.progress.count { $0.name == "found_public" } == 1)
        #expect(room.progress.count { $0 == .searching } == 1 && room.progress.count { $0 == .ended } == 1)
        #expect(!room.said.contains(.abandoned(Self.hall.wantedAddress)))
        #expect(room.scans.last == .some(Self.background), "it goes on listening")
    }

    @Test("those who listen may stop while the house searches: what it found it keeps")
    func houseKeeps() {
        var room = Room([Self.hall])
        room.tell(.listen(ButtonListening(pairsAny: true)))
        room.tell(.permitJoin(.seconds(60)))
        while !room.progress.contains(.connected(Self.hall.wantedAddress)) { room.wait(.milliseconds(1)) }
        room.tell(.listen(ButtonListening()))
        room.wait(.seconds(61))
        #expect(room.manager.knownButtons.map(\.id) == [Self.hallID])
        #expect(room.scans.last == .some(nil), "the scan has ended")
        #expect(room.progress.last == .ended)
    }

    @Test("a button that cannot be paired is tried again after 20 s, or at once after a new request")
    func failures() {
        var room = Room([Self.hall], trustRoots: [])
        let address = Self.hall.wantedAddress
        func failures() -> Int { room.progress.count { $0 == .failed(.session(.invalidCertificate), address) } }
        room.tell(.listen(ButtonListening(pairsAny: true)))
        while failures() == 0 { room.wait(.milliseconds(10)) }
        room.wait(.seconds(19))
        #expect(failures() == 1)
        while failures() == 1 { room.wait(.milliseconds(10)) }
        room.tell(.listen(ButtonListening(pairsAny: true)))
        room.wait(.seconds(15))
        #expect(failures() == 3)
    }

    @Test("an adapter that is lost while a button is verified fails that, and the next one goes on listening")
    func adapterLost() {
        var room = Room([Self.hall])
        let address = Self.hall.wantedAddress
        room.tell(.listen(ButtonListening(reportsAll: true, pairs: [Self.hallID])))
        while !room.progress.contains(.verifying(address)) { room.wait(.milliseconds(1)) }
        room.unplug()
        #expect(room.progress.last == .failed(.connectFailed, address))
        room.forget()
        room.wait(.seconds(30))
        #expect(room.said.isEmpty && room.scans.isEmpty)
        room.tell(.transportOpened())
        room.wait(.seconds(60))
        #expect(room.manager.knownButtons.map(\.id) == [Self.hallID])
        #expect(room.scans.first == .some(Self.active))
        #expect(room.world.violations.isEmpty)
    }

    @Test("what was wished while there is no adapter begins with it")
    func wishedBefore() {
        var room = Room([Self.hall, PairingTests.attic])
        room.unplug()
        room.forget()
        room.tell(.listen(ButtonListening(pairsAny: true)))
        #expect(room.scans.isEmpty)
        room.tell(.transportOpened())
        room.wait(.seconds(20))
        #expect(room.scans.first == .some(Self.background))
        #expect(room.manager.knownButtons.map(\.id) == [Self.hallID])
    }

    @Test("no scan starts during shutdown")
    func shutDown() {
        var room = Room([PairingTests.attic])
        room.tell(.listen(ButtonListening(pairsAny: true)))
        room.wait(.seconds(1))
        room.tell(.shutDown)
        room.tell(.listen(ButtonListening(reportsAll: true)))
        room.wait(.seconds(1))
        #expect(room.scans == [Self.background, nil])
    }

    // MARK: Wishes

    @Test("a wish changes the link at once, the same one changes nothing, and without it the link is as before")
    func wishes() {
        var room = KnownButtonTests.paired()
        room.tell(
            .setRequestedParameters(
                KnownButtonTests.id, RequestedLinkParameters(latencyMode: .low, autoDisconnectTime: nil)))
        room.tell(
            .setRequestedParameters(
                KnownButtonTests.id, RequestedLinkParameters(latencyMode: .low, autoDisconnectTime: nil)))
        room.wait(.seconds(10))
        #expect(room.linkIntervals == [14])
        room.tell(.setRequestedParameters(KnownButtonTests.id, nil))
        room.wait(.seconds(10))
        #expect(room.linkIntervals == [14, 90])
    }

    @Test("what people have set counts, whatever others wish")
    func peopleCount() {
        var room = KnownButtonTests.paired()
        room.tell(.request(KnownButtonTests.id, .setLatencyMode(.high)))
        room.tell(.request(KnownButtonTests.id, .setAutoDisconnectTime(510)))
        room.wait(.seconds(10))
        room.forget()
        room.tell(
            .setRequestedParameters(
                KnownButtonTests.id, RequestedLinkParameters(latencyMode: .low, autoDisconnectTime: 40)))
        room.wait(.seconds(120))
        #expect(room.requests.isEmpty)
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        // People go back to what was at the beginning, and the wish counts again.
        room.tell(.request(KnownButtonTests.id, .setLatencyMode(.normal)))
        room.wait(.seconds(10))
        #expect(room.linkIntervals == [14])
    }

    @Test("a wish of a time without presses holds from the next session on, too; it goes with the button")
    func autoDisconnect() {
        var room = KnownButtonTests.paired()
        room.tell(
            .setRequestedParameters(
                KnownButtonTests.id, RequestedLinkParameters(latencyMode: .normal, autoDisconnectTime: 40)))
        room.wait(.seconds(120))
        #expect(room.manager.state(of: KnownButtonTests.id) == .connecting)
        room.press("hall", .click)
        room.wait(.seconds(10))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        room.wait(.seconds(60))
        #expect(room.manager.state(of: KnownButtonTests.id) == .connecting)
        room.tell(.forget(KnownButtonTests.id))
        room.press("hall", .makePublic)
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(30))
        #expect(room.manager.knownButtons.count == 1)
        room.wait(.seconds(120))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
    }
}
