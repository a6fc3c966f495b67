import ButtonModel
import Buttons
import Flic
import Simulator
import Testing

@Suite("Pairing")
struct PairingTests {
    static let hall = SimulatedButtonDescription(name: "hall", address: BluetoothAddress("80:E4:DA:00:00:02"))
    static let attic = SimulatedButtonDescription(
        name: "attic", address: BluetoothAddress("80:E4:DA:00:00:03"), isPublic: false)

    @Test("a public button goes through every step, once")
    func everyStep() throws {
        var room = Room([PairingTests.hall])
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(40))
        let address = PairingTests.hall.wantedAddress
        let identity = try #require(room.manager.knownButtons.first?.identity)
        #expect(
            room.progress == [
                .searching, .foundPublic(address), .connecting(address), .connected(address), .verifying(address),
                .paired(identity), .ended,
            ])
        #expect(room.states(of: identity.id) == [.connected, .ready])
        #expect(room.world.violations.isEmpty)
    }

    @Test("two buttons are paired one after the other while the search is open")
    func twoButtons() {
        let attic = SimulatedButtonDescription(name: "attic")
        var room = Room([PairingTests.hall, attic])
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(31))
        #expect(room.manager.knownButtons.count == 2)
        #expect(room.manager.knownButtons.allSatisfy { room.manager.state(of: $0.id) == .ready })
    }

    @Test("a private button is a hint, once; held for seven seconds it is paired")
    func privateButton() {
        var room = Room([PairingTests.attic])
        room.tell(.permitJoin(.seconds(60)))
        room.press("attic", .click)
        room.wait(.seconds(5))
        room.press("attic", .click)
        room.wait(.seconds(2))
        let address = PairingTests.attic.wantedAddress
        #expect(room.progress == [.searching, .foundPrivate(address)])
        room.wait(.seconds(30))
        room.press("attic", .makePublic)
        room.wait(.seconds(20))
        #expect(room.manager.knownButtons.map(\.identity.address) == [address])
    }

    @Test("`noNewButtonsFound` is reported at the end of the time, and not when the search is stopped")
    func nothingFound() {
        var room = Room([])
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(6))
        #expect(room.progress == [.searching, .failed(.noNewButtonsFound, nil), .ended])
        room.forget()
        room.tell(.permitJoin(.seconds(5)))
        room.tell(.stopJoin)
        room.wait(.seconds(6))
        #expect(room.progress == [.searching, .ended])
    }

    @Test("a button signed by an unknown root is not genuine, is not kept, and is not tried again by itself")
    func notGenuine() {
        var room = Room([PairingTests.hall], trustRoots: [])
        room.tell(.permitJoin(.seconds(60)))
        room.wait(.seconds(70))
        let address = PairingTests.hall.wantedAddress
        #expect(room.progress.filter { $0 == .foundPublic(address) }.count == 1)
        #expect(room.progress.contains(.failed(.session(.invalidCertificate), address)))
        #expect(room.manager.knownButtons.isEmpty)
    }

    @Test("a button that is gone before the connection is up is given up after 31 seconds")
    func connectionTimeout() {
        var room = Room([PairingTests.hall])
        room.tell(.permitJoin(.seconds(120)))
        while !room.progress.contains(.foundPublic(PairingTests.hall.wantedAddress)) { room.wait(.milliseconds(1)) }
        room.reach("hall", false)
        room.wait(.seconds(30))
        #expect(!room.progress.contains { $0.name == "failed" })
        room.wait(.seconds(2))
        #expect(room.progress.contains(.failed(.connectionTimeout, PairingTests.hall.wantedAddress)))
    }

    @Test("a link that breaks while the button is verified fails the pairing, and the search goes on")
    func brokenLink() {
        var room = Room([PairingTests.hall])
        room.tell(.permitJoin(.seconds(120)))
        while !room.progress.contains(.connected(PairingTests.hall.wantedAddress)) { room.wait(.milliseconds(1)) }
        room.reach("hall", false)
        room.wait(.seconds(60))
        #expect(room.progress.contains(.failed(.connectFailed, PairingTests.hall.wantedAddress)))
        #expect(room.manager.isSearching)
    }

    @Test("stopped at any moment, nothing is paired from there on", arguments: 1...40)
    func stopInTheMiddle(step: Int) {
        var room = Room([PairingTests.hall])
        room.tell(.permitJoin(.seconds(120)))
        room.wait(.milliseconds(100 * step))
        let known = room.manager.knownButtons
        room.tell(.stopJoin)
        #expect(!room.manager.isSearching)
        #expect(room.progress.last == .ended)
        room.wait(.seconds(60))
        #expect(room.manager.knownButtons.map(\.id) == known.map(\.id))
        #expect(room.progress.last == .ended, "nothing is said of pairing any more")
    }

    @Test("a button that advertises a connection to another device is not tried, and this is reported")
    func taken() {
        var taken = PairingTests.hall
        taken.isConnectedElsewhere = true
        var room = Room([taken])
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(60))
        #expect(room.progress.contains(.failed(.alreadyConnectedToOtherDevice, taken.wantedAddress)))
        #expect(!room.progress.contains(.connecting(taken.wantedAddress)))
        #expect(room.manager.knownButtons.isEmpty)
    }

    @Test("time that runs out lets a button finish that is being verified")
    func timeOverInTheMiddle() {
        var room = Room([PairingTests.hall])
        room.tell(.permitJoin(.seconds(120)))
        while !room.progress.contains(.connected(PairingTests.hall.wantedAddress)) { room.wait(.milliseconds(1)) }
        room.tell(.permitJoin(.milliseconds(1)))
        room.wait(.seconds(10))
        #expect(room.manager.knownButtons.count == 1)
        #expect(room.progress.last == .ended)
    }

    @Test("a paired button that offers itself is reported once")
    func alreadyPaired() throws {
        var room = Room([PairingTests.hall])
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(10))
        let known = room.manager.knownButtons
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.press("hall", .makePublic)
        room.wait(.seconds(8))
        room.forget()
        room.tell(.permitJoin(.seconds(10)))
        room.reach("hall", true)
        room.wait(.seconds(11))
        #expect(room.progress.filter { $0 == .alreadyPaired(PairingTests.hall.wantedAddress) }.count == 1)
        #expect(room.manager.knownButtons.map(\.pairing) == known.map(\.pairing))
    }
}
