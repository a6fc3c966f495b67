import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

@Suite("Scan wizards of flicd's clients")
struct FlicdWizardTests {
    private static let pairsAny = FlicdListening(pairsAny: true)

    private static func advertisement(_ address: BluetoothAddress, isPrivate: Bool) -> FlicdAdvertisement {
        FlicdAdvertisement(
            address: address, name: isPrivate ? "" : "F2AABB", rssi: -60, isPrivate: isPrivate,
            isAlreadyVerified: false)
    }

    @Test("a wizard reports a private button, then finds, connects and pairs it, and all clients are informed")
    func success() {
        var talk = FlicdTalk(clients: 2)
        talk.when(1, .createScanWizard(id: 3), expect: .listens(Self.pairsAny))
        // A wizard ignores buttons that are already verified, private or public.
        talk.when(.advertised(Self.advertisement(hall, isPrivate: true)), expect: .nothing)
        talk.when(
            .advertised(Self.advertisement(attic, isPrivate: true)),
            expect: .told(1, .scanWizardFoundPrivateButton(id: 3)))
        talk.when(.advertised(Self.advertisement(attic, isPrivate: true)), expect: .nothing)
        talk.when(.advertised(Self.advertisement(attic, isPrivate: false)), expect: .nothing)
        talk.when(
            .pairing(.found(attic)), expect: .told(1, .scanWizardFoundPublicButton(id: 3, attic, name: "F2AABB")))
        talk.when(.pairing(.connected(attic)), expect: .told(1, .scanWizardButtonConnected(id: 3)))
        talk.when(
            .paired(identity(attic)),
            expect: .listens(FlicdListening()),
            .told(1, .scanWizardCompleted(id: 3, .success)), .told(1, .newVerifiedButton(attic)),
            .told(2, .newVerifiedButton(attic)))
        talk.wait(FlicdServer.minimumListeningInterval)
        #expect(talk.timer == nil)
        talk.when(1, .cancelScanWizard(id: 3), expect: .nothing)
    }

    @Test("each phase of a wizard has a time limit that begins with the phase")
    func limits() {
        let timedOut = FlicdTalk.Said.told(1, .scanWizardCompleted(id: 3, .failedTimeout))
        var talk = FlicdTalk()
        talk.given(1, .createScanWizard(id: 3))
        talk.wait(.milliseconds(19_999))
        var looking = talk
        looking.wait(.milliseconds(1), expect: .listens(FlicdListening()), timedOut)

        talk.given(.advertised(Self.advertisement(attic, isPrivate: true)))
        talk.wait(.milliseconds(19_999))
        var privateSeen = talk
        privateSeen.wait(.milliseconds(1), expect: .listens(FlicdListening()), timedOut)

        talk.given(.pairing(.found(attic)))
        talk.wait(.milliseconds(9_999))
        var connecting = talk
        connecting.wait(.milliseconds(1), expect: .listens(FlicdListening()), timedOut)

        talk.given(.pairing(.connected(attic)))
        talk.wait(.milliseconds(29_999))
        talk.wait(.milliseconds(1), expect: .listens(FlicdListening()), timedOut)
        talk.when(.pairing(.failed(attic, .failedTimeout, nil)), expect: .nothing)
    }

    @Test("a wizard that is cancelled in any phase completes once and leaves no timer")
    func cancelled() {
        var talk = FlicdTalk()
        let steps: [[FlicdServer.Input]] = [
            [], [.advertised(Self.advertisement(attic, isPrivate: true))], [.pairing(.found(attic))],
            [.pairing(.found(attic)), .pairing(.connected(attic))],
        ]
        for inputs in steps {
            talk.given(1, .createScanWizard(id: 3))
            for input in inputs { talk.given(input) }
            talk.when(
                1, .cancelScanWizard(id: 3),
                expect: .listens(FlicdListening()), .told(1, .scanWizardCompleted(id: 3, .cancelledByUser)))
            talk.when(1, .cancelScanWizard(id: 3), expect: .nothing)
            talk.wait(FlicdServer.minimumListeningInterval)
            #expect(talk.timer == nil)
            talk.given(.pairing(.failed(attic, .failedTimeout, nil)))
        }
    }

    @Test("a failure is reported when its wizard is two seconds old, then four, and so on up to twenty")
    func failures() {
        var talk = FlicdTalk()
        let results: [FlicdScanWizardResult] = [
            .buttonIsPrivate, .invalidData, .buttonBelongsToOtherPartner, .buttonAlreadyConnectedToOtherDevice,
            .failedTimeout,
        ]
        for (result, seconds) in zip(results, [2, 4, 8, 16, 20]) {
            talk.given(1, .createScanWizard(id: 3))
            talk.given(.pairing(.found(attic)))
            talk.given(.pairing(.connected(attic)))
            talk.when(.pairing(.failed(attic, result, nil)), expect: .listens(FlicdListening()))
            talk.wait(.milliseconds(seconds * 1000 - 1))
            talk.wait(.milliseconds(1), expect: .told(1, .scanWizardCompleted(id: 3, result)))
        }
        // A wizard that timed out after 20 seconds resets the delay of failures.
        talk.given(1, .createScanWizard(id: 3))
        talk.wait(
            .seconds(20), expect: .listens(FlicdListening()), .told(1, .scanWizardCompleted(id: 3, .failedTimeout)))
        talk.given(1, .createScanWizard(id: 3))
        talk.given(.pairing(.found(attic)))
        talk.given(.pairing(.failed(attic, .invalidData, nil)))
        talk.wait(.seconds(2), expect: .told(1, .scanWizardCompleted(id: 3, .invalidData)))
    }

    @Test("a wizard fails without an adapter, and when the adapter goes")
    func noAdapter() {
        var talk = FlicdTalk(isAttached: false)
        let unavailable = FlicdTalk.Said.told(1, .scanWizardCompleted(id: 3, .bluetoothUnavailable))
        talk.when(1, .createScanWizard(id: 3), expect: .nothing)
        talk.wait(.seconds(2), expect: unavailable)
        talk.given(.controller(.attached, address: nil))
        talk.given(1, .createScanWizard(id: 3))
        talk.wait(.seconds(10))
        talk.when(
            .controller(.resetting, address: nil),
            expect: .listens(FlicdListening()), unavailable, .told(1, .bluetoothControllerStateChange(.resetting)))
    }

    @Test("all wizards share one search, a later one is informed of what is found, and each has its own limit")
    func several() {
        var talk = FlicdTalk(clients: 2)
        talk.given(1, .createScanWizard(id: 3))
        talk.wait(.seconds(15))
        talk.when(2, .createScanWizard(id: 3), expect: .listens(Self.pairsAny))
        talk.wait(.seconds(5), expect: .told(1, .scanWizardCompleted(id: 3, .failedTimeout)))
        talk.given(.pairing(.found(attic)))
        talk.given(.pairing(.connected(attic)))
        talk.when(
            1, .createScanWizard(id: 4),
            expect: .listens(Self.pairsAny), .told(1, .scanWizardFoundPublicButton(id: 4, attic, name: "")),
            .told(1, .scanWizardButtonConnected(id: 4)))
        talk.when(.clientGone(id(2)), expect: .nothing)
        talk.when(
            .paired(identity(attic)),
            expect: .listens(FlicdListening()), .told(1, .scanWizardCompleted(id: 4, .success)),
            .told(1, .newVerifiedButton(attic)))
    }

    @Test("wizards beyond the bound fail late, and beyond twice the bound at once; each completes once")
    func bound() {
        var talk = FlicdTalk()
        let count = UInt32(FlicdServer.maximumWizards)
        for id in 0..<2 * count { talk.given(1, .createScanWizard(id: id)) }
        talk.when(
            1, .createScanWizard(id: 99), expect: .told(1, .scanWizardCompleted(id: 99, .failedTimeout)))
        talk.when(1, .createScanWizard(id: 0), expect: .nothing)
        var completed: [UInt32] = []
        for case .told(1, .scanWizardCompleted(let id, .failedTimeout)) in talk.pass(.seconds(21)) {
            completed.append(id)
        }
        #expect(completed.sorted() == Array(0..<2 * count))
    }

    @Test("a button that is paired without a wizard is reported to a client")
    func pairedElsewhere() {
        var talk = FlicdTalk()
        talk.when(.paired(identity(attic)), expect: .told(1, .newVerifiedButton(attic)))
    }

    @Test("a scanner gets every advertisement, with what the server knows of the button")
    func scanner() {
        var talk = FlicdTalk(clients: 2)
        talk.when(1, .createScanner(id: 5), expect: .listens(FlicdListening(reportsAll: true)))
        talk.given(1, .createScanner(id: 6))
        talk.given(.status(ButtonID(hall), .connected))
        var known = Self.advertisement(hall, isPrivate: true)
        known.isAlreadyVerified = true
        known.isConnectedToThisDevice = true
        talk.when(
            .advertised(Self.advertisement(hall, isPrivate: true)),
            expect: .told(1, .advertisementPacket(scanID: 5, known)), .told(1, .advertisementPacket(scanID: 6, known)))
        talk.given(1, .removeScanner(id: 5))
        var other = Self.advertisement(attic, isPrivate: false)
        other.isConnectedToOtherDevice = true
        talk.when(.advertised(other), expect: .told(1, .advertisementPacket(scanID: 6, other)))
        talk.when(1, .removeScanner(id: 6), expect: .listens(FlicdListening()))
        talk.when(.advertised(other), expect: .nothing)
    }

    @Test("scanners beyond the maximum are ignored")
    func scannerBound() {
        var talk = FlicdTalk()
        for id in 0...UInt32(FlicdServer.maximumScanners) { talk.given(1, .createScanner(id: id)) }
        #expect(talk.handle(.advertised(Self.advertisement(attic, isPrivate: false))).count == 16)
    }
}
