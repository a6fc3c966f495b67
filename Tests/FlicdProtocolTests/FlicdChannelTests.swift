import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

@Suite("Connection channels of flicd's clients")
struct FlicdChannelTests {
    private static let button = ButtonID(hall)
    private static let normal = FlicdChannelMode()

    @Test("a channel reports the button's status, then each change, and at last its removal")
    func life() {
        var talk = FlicdTalk()
        talk.when(
            1, .createConnectionChannel(id: 7, hall, Self.normal),
            expect: .wants(Self.button, Self.normal),
            .told(1, .createConnectionChannelResponse(id: 7, error: .noError, .disconnected)))
        talk.when(
            .status(Self.button, .connected),
            expect: .told(1, .connectionStatusChanged(id: 7, .connected, reason: .unspecified)))
        talk.when(.status(Self.button, .connected), expect: .nothing)
        talk.when(
            .status(Self.button, .ready),
            expect: .told(1, .connectionStatusChanged(id: 7, .ready, reason: .unspecified)))
        talk.given(.linkFailed(Self.button, .timedOut))
        talk.when(
            .status(Self.button, .disconnected),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .timedOut)))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(
            1, .removeConnectionChannel(id: 7),
            expect: .wants(Self.button, nil), .told(1, .connectionChannelRemoved(id: 7, .removedByThisClient)))
        talk.when(.status(Self.button, .connected), expect: .nothing)
    }

    @Test("a button that is ready without having been connected is reported as both; a reason is reported once")
    func missedStep() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(.linkFailed(Self.button, .timedOut))
        talk.when(
            .status(Self.button, .ready),
            expect: .told(1, .connectionStatusChanged(id: 7, .connected, reason: .unspecified)),
            .told(1, .connectionStatusChanged(id: 7, .ready, reason: .unspecified)))
        talk.when(
            .status(Self.button, .disconnected),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified)))
    }

    @Test("a session that ends while the link stays is reported as disconnected until the button is ready again")
    func lostSession() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(.status(Self.button, .ready))
        talk.given(.linkFailed(Self.button, .bondingKeysMismatch))
        talk.when(
            .status(Self.button, .connected),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .bondingKeysMismatch)))
        talk.when(.events(Self.button, [event(.down)]), expect: .nothing)
        talk.when(.status(Self.button, .connected), expect: .nothing)
        talk.when(
            .status(Self.button, .ready),
            expect: .told(1, .connectionStatusChanged(id: 7, .connected, reason: .unspecified)),
            .told(1, .connectionStatusChanged(id: 7, .ready, reason: .unspecified)))
        // The next session ends, and after it the link, too.
        talk.given(.status(Self.button, .connected))
        talk.given(.linkFailed(Self.button, .timedOut))
        talk.when(.status(Self.button, .disconnected), expect: .nothing)
        talk.when(
            .status(Self.button, .connected),
            expect: .told(1, .connectionStatusChanged(id: 7, .connected, reason: .unspecified)))
    }

    @Test("if several failures precede a disconnection, the first is its reason")
    func firstReason() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(.status(Self.button, .connected))
        talk.given(.linkFailed(Self.button, .connectionEstablishmentFailed))
        talk.given(.linkFailed(Self.button, .unspecified))
        talk.when(
            .status(Self.button, .disconnected),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .connectionEstablishmentFailed)))
    }

    @Test("each press is reported in four event families, in ascending order of opcode")
    func families() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(.status(Self.button, .ready))
        func said(_ family: FlicdFamily, _ type: FlicdClickType) -> FlicdTalk.Said {
            .told(1, .button(id: 7, family, type, wasQueued: false, timeDifference: 0))
        }
        for (step, words) in Packets.steps {
            let answers = talk.handle(.events(Self.button, [event(step)]))
            #expect(answers == words.map { said($0.0, $0.1) }, "\(step)")
        }
    }

    @Test("flicd's clients get a Duo's big button and a Twist's press, but no small button and no swipe")
    func parts() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(.status(Self.button, .ready))
        let down = FlicdTalk.Said.told(1, .button(id: 7, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0))
        let up = FlicdTalk.Said.told(1, .button(id: 7, .upOrDown, .buttonUp, wasQueued: false, timeDifference: 0))
        talk.when(.events(Self.button, [event(.down, part: .big)]), expect: down)
        talk.when(.events(Self.button, [event(.down, part: .push)]), expect: down)
        talk.when(
            .events(Self.button, [event(.down, part: .small), event(.up(.open), part: .small)]), expect: .nothing)
        talk.when(.events(Self.button, [event(.up(.click), part: .big, swipe: .left)]), expect: up)
    }

    @Test("a stored press has its age, rounded down to seconds; a live press has age zero")
    func ages() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(.status(Self.button, .ready))
        talk.when(
            .events(
                Self.button,
                [
                    event(.down, queued: .milliseconds(4_196_999)), event(.up(.afterHold), queued: .seconds(1 << 40)),
                    event(.down),
                ]),
            expect: .told(1, .button(id: 7, .upOrDown, .buttonDown, wasQueued: true, timeDifference: 4196)),
            .told(1, .button(id: 7, .upOrDown, .buttonUp, wasQueued: true, timeDifference: 0x7FFF_FFFF)),
            .told(1, .button(id: 7, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)))
    }

    @Test("every channel of every client gets each press, and each client has channel ids of its own")
    func several() {
        var talk = FlicdTalk(clients: 2)
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(1, .createConnectionChannel(id: 0, hall, Self.normal))
        talk.given(.status(Self.button, .ready))
        talk.when(
            2, .createConnectionChannel(id: 7, hall, Self.normal),
            expect: .told(2, .createConnectionChannelResponse(id: 7, error: .noError, .ready)))
        talk.when(
            .events(Self.button, [event(.down)]),
            expect: .told(1, .button(id: 7, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)),
            .told(1, .button(id: 0, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)),
            .told(2, .button(id: 7, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)))
        talk.when(.clientGone(id(1)), expect: .nothing)
        talk.when(
            .events(Self.button, [event(.down)]),
            expect: .told(2, .button(id: 7, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)))
    }

    @Test("creating a channel under an id in use, or removing an unknown id, changes nothing")
    func ids() {
        var talk = FlicdTalk(buttons: [hall, attic])
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.when(1, .createConnectionChannel(id: 7, attic, FlicdChannelMode(latencyMode: .low)), expect: .nothing)
        talk.when(.status(ButtonID(attic), .connected), expect: .nothing)
        talk.when(
            1, .removeConnectionChannel(id: 8), .changeModeParameters(id: 8, Self.normal), .removeScanner(id: 7),
            .cancelScanWizard(id: 7), .removeBatteryStatusListener(id: 7), expect: .nothing)
        talk.given(1, .removeConnectionChannel(id: 7))
        talk.when(1, .removeConnectionChannel(id: 7), expect: .nothing)
    }

    @Test("a button gets the lowest latency and the longest time of its channels; an unchanged mode is not sent")
    func modes() {
        var talk = FlicdTalk(clients: 2)
        func mode(_ latency: LatencyMode, _ time: UInt16?) -> FlicdChannelMode {
            FlicdChannelMode(latencyMode: latency, autoDisconnectTime: time)
        }
        func made(_ client: Int, _ id: UInt32) -> FlicdTalk.Said {
            .told(client, .createConnectionChannelResponse(id: id, error: .noError, .disconnected))
        }
        talk.when(
            1, .createConnectionChannel(id: 1, hall, mode(.high, 15)),
            expect: .wants(Self.button, mode(.high, 15)), made(1, 1))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(
            2, .createConnectionChannel(id: 1, hall, mode(.normal, 60)),
            expect: .wants(Self.button, mode(.normal, 60)), made(2, 1))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(2, .createConnectionChannel(id: 2, hall, mode(.high, 0)), expect: made(2, 2))
        talk.when(1, .changeModeParameters(id: 1, mode(.low, nil)), expect: .wants(Self.button, mode(.low, nil)))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(.clientGone(id(1)), expect: .wants(Self.button, mode(.normal, 60)))
        // A channel that is created and removed within one input changes nothing.
        talk.when(
            2, .createConnectionChannel(id: 3, hall, mode(.low, nil)), .removeConnectionChannel(id: 3),
            expect: made(2, 3), .told(2, .connectionChannelRemoved(id: 3, .removedByThisClient)))
    }

    @Test("a forced disconnection removes every client's channels, and each client is informed of the requester")
    func forceDisconnect() {
        var talk = FlicdTalk(clients: 2)
        talk.given(1, .createConnectionChannel(id: 7, hall, Self.normal))
        talk.given(2, .createConnectionChannel(id: 9, hall, Self.normal))
        talk.given(.status(Self.button, .ready))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(
            2, .forceDisconnect(hall),
            expect: .wants(Self.button, nil),
            .told(1, .connectionChannelRemoved(id: 7, .forceDisconnectedByOtherClient)),
            .told(2, .connectionChannelRemoved(id: 9, .forceDisconnectedByThisClient)))
        talk.when(2, .forceDisconnect(hall), expect: .nothing)
        talk.when(.status(Self.button, .disconnected), expect: .nothing)
    }

    @Test("one channel more than the server takes is refused, and its id stays free")
    func bound() {
        var talk = FlicdTalk()
        for id in 0..<UInt32(FlicdServer.maximumChannels) {
            let address = BluetoothAddress(rawValue: UInt64(id))
            talk.given(1, .createConnectionChannel(id: id, address, Self.normal))
        }
        talk.when(
            1, .createConnectionChannel(id: .max, hall, Self.normal),
            expect: .told(
                1, .createConnectionChannelResponse(id: .max, error: .maxPendingConnectionsReached, .disconnected)))
        talk.when(1, .removeConnectionChannel(id: .max), expect: .nothing)
        talk.given(1, .removeConnectionChannel(id: 0))
        talk.when(
            1, .createConnectionChannel(id: .max, hall, Self.normal), expect: .wants(Self.button, Self.normal),
            .told(1, .createConnectionChannelResponse(id: .max, error: .noError, .disconnected)))
        #expect(talk.server.channelCount == FlicdServer.maximumChannels)
    }

    @Test("one channel more of a button than a client may have is refused, and others may create theirs")
    func boundOfButton() {
        var talk = FlicdTalk(buttons: [hall, attic], clients: 2)
        for id in 0..<UInt32(FlicdServer.maximumChannelsOfButton) {
            talk.given(1, .createConnectionChannel(id: id, hall, Self.normal))
        }
        talk.when(
            1, .createConnectionChannel(id: .max, hall, Self.normal),
            expect: .told(
                1, .createConnectionChannelResponse(id: .max, error: .maxPendingConnectionsReached, .disconnected)))
        let made = FlicdEvent.createConnectionChannelResponse(id: .max, error: .noError, .disconnected)
        talk.when(2, .createConnectionChannel(id: .max, hall, Self.normal), expect: .told(2, made))
        talk.when(
            1, .createConnectionChannel(id: .max, attic, Self.normal),
            expect: .wants(ButtonID(attic), Self.normal), .told(1, made))
    }

    @Test("a channel to a button that is not paired waits, and makes the server pair with the button")
    func pairing() {
        var talk = FlicdTalk(clients: 2)
        let button = ButtonID(attic)
        talk.when(
            1, .createConnectionChannel(id: 7, attic, Self.normal),
            expect: .listens(FlicdListening(pairs: [button])),
            .told(1, .createConnectionChannelResponse(id: 7, error: .noError, .disconnected)))
        talk.when(.pairing(.found(attic)), expect: .nothing)
        talk.when(
            .pairing(.connected(attic)),
            expect: .told(1, .connectionStatusChanged(id: 7, .connected, reason: .unspecified)))
        talk.when(
            2, .createConnectionChannel(id: 7, attic, Self.normal),
            expect: .told(2, .createConnectionChannelResponse(id: 7, error: .noError, .connected)))
        talk.when(
            .paired(identity(attic)), expect: .wants(button, Self.normal), .listens(FlicdListening()))
        talk.when(.status(button, .connected), expect: .nothing)
        talk.when(
            .status(button, .ready),
            expect: .told(1, .connectionStatusChanged(id: 7, .ready, reason: .unspecified)),
            .told(1, .newVerifiedButton(attic)),
            .told(2, .connectionStatusChanged(id: 7, .ready, reason: .unspecified)),
            .told(2, .newVerifiedButton(attic)))
        talk.when(
            .status(button, .disconnected),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified)),
            .told(2, .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified)))
    }

    @Test("a pairing that times out leaves its channels waiting, and a refused pairing removes them")
    func failedPairing() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, attic, Self.normal))
        // This pairing has no connection yet, so no client is informed of its failure.
        talk.given(.pairing(.found(attic)))
        talk.when(.pairing(.failed(attic, .failedTimeout, .verifyTimeout)), expect: .nothing)
        talk.given(.pairing(.found(attic)))
        talk.given(.pairing(.connected(attic)))
        talk.when(
            .pairing(.failed(attic, .failedTimeout, nil)),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified)))
        talk.given(.pairing(.found(attic)))
        talk.given(.pairing(.connected(attic)))
        talk.when(
            .pairing(.failed(attic, .buttonIsPrivate, .buttonIsPrivate)),
            expect: .listens(FlicdListening()),
            .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified)),
            .told(1, .connectionChannelRemoved(id: 7, .buttonIsPrivate)))
        talk.when(.status(ButtonID(attic), .ready), expect: .nothing)
    }
}
