import BluetoothHost
import ButtonModel
import Bytes
import TestSupport
import Testing

@Suite("Controller faults")
struct ControllerFaultTranscriptTests {
    private let connection = LEConnection(handle: link, peer: kitchen, role: .central)
    private static let write = LEHost.Input.perform(.write(link, AttributeHandle(rawValue: 3), [7]))
    private static let written: [UInt8] = [0x52, 3, 0, 7]
    private static let probe = LEHost.Effect.command(.readBDADDR)
    private static let probeAnswer = LEHost.Input.completed(.readBDADDR, .success, Bench.info.address.wireOctets)

    private func connected() -> Bench {
        var bench = Bench()
        bench.connect()
        return bench
    }

    // MARK: Packets and links that do not end

    @Test("buffers of packets not completed four seconds after the supervision timeout are free again")
    func forgottenPackets() {
        var bench = connected()
        for _ in 0..<4 { bench.when(Self.write, expect: .attribute(Self.written)) }
        bench.when(Self.write, expect: .nothing)
        bench.wait(.milliseconds(9999))
        bench.wait(
            .milliseconds(1), expect: .event(.anomaly("4 packets of link 64 were never completed")),
            .attribute(Self.written))
        bench.when(.freed(), expect: .nothing)
        bench.wait(.seconds(100))
    }

    @Test("a link whose packets are twice in a row not completed is disconnected")
    func stuckLink() {
        var bench = connected()
        bench.when(Self.write, expect: .attribute(Self.written))
        bench.wait(.seconds(10), expect: .event(.anomaly("1 packets of link 64 were never completed")))
        bench.wait(.seconds(60))
        bench.when(Self.write, expect: .attribute(Self.written))
        bench.wait(.milliseconds(9999))
        bench.wait(
            .milliseconds(1), expect: .event(.anomaly("link 64 does not complete any packets")),
            .command(.disconnect(link, reason: .remoteUserTerminated)))
        bench.when(.status(.disconnect), expect: .nothing)
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .localHostTerminated)),
            expect: .event(.disconnected(connection, reason: .localHostTerminated)))
        bench.wait(.seconds(200))
    }

    @Test("packets that were sent later keep their buffers when older ones are not completed")
    func laterPackets() {
        var bench = connected()
        bench.when(Self.write, expect: .attribute(Self.written))
        bench.wait(.seconds(9))
        for _ in 0..<3 { bench.when(Self.write, expect: .attribute(Self.written)) }
        for _ in 0..<3 { bench.when(Self.write, expect: .nothing) }
        bench.wait(.milliseconds(999))
        bench.wait(
            .milliseconds(1), expect: .event(.anomaly("1 packets of link 64 were never completed")),
            .attribute(Self.written))
        // The controller may still have the three later ones.
        bench.wait(.milliseconds(8999))
        bench.when(.freed(), expect: .attribute(Self.written))
    }

    @Test("a link is not stuck because of packets that were sent before the first loss was noticed")
    func severalLosses() {
        var bench = connected()
        for _ in 0..<2 {
            bench.when(Self.write, expect: .attribute(Self.written))
            bench.wait(.seconds(3))
        }
        bench.wait(.seconds(4), expect: .event(.anomaly("1 packets of link 64 were never completed")))
        bench.wait(.seconds(3), expect: .event(.anomaly("1 packets of link 64 were never completed")))
        bench.when(Self.write, expect: .attribute(Self.written))
        bench.wait(
            .seconds(10), expect: .event(.anomaly("link 64 does not complete any packets")),
            .command(.disconnect(link, reason: .remoteUserTerminated)))
    }

    @Test("the supervision timeout of the latest connection update counts")
    func longerTimeout() {
        var bench = connected()
        bench.given(
            .event(
                .leConnectionUpdateComplete(
                    .success, link, interval: 80, peripheralLatency: 4, supervisionTimeout: 3200)))
        bench.when(Self.write, expect: .attribute(Self.written))
        bench.wait(.milliseconds(35_999))
        bench.wait(.milliseconds(1), expect: .event(.anomaly("1 packets of link 64 were never completed")))
    }

    @Test("packets that are completed slowly keep their buffers")
    func slowPackets() {
        var bench = connected()
        for _ in 0..<4 { bench.when(Self.write, expect: .attribute(Self.written)) }
        for _ in 0..<4 {
            bench.wait(.seconds(9))
            bench.when(.freed(), expect: .nothing)
        }
        bench.wait(.seconds(60))
    }

    @Test("a disconnection without an event is reported as a stopped controller")
    func linkNotEnded() {
        var bench = connected()
        bench.when(
            .perform(.disconnect(link, reason: .remoteUserTerminated)),
            expect: .command(.disconnect(link, reason: .remoteUserTerminated)))
        bench.when(.status(.disconnect), expect: .nothing)
        bench.wait(.milliseconds(9999))
        bench.wait(
            .milliseconds(1), expect: .event(.disconnected(connection, reason: .connectionTimeout)),
            .event(.failed(.stopped("link 64 was not disconnected in time"))))
    }

    @Test("a failed connection update is reported, refused by status or by event", arguments: [true, false])
    func updateFailed(isRefusedAtOnce: Bool) {
        var bench = connected()
        let parameters = LEHost.Configuration().connectionParameters
        bench.given(.perform(.updateConnection(link, parameters)))
        if isRefusedAtOnce {
            bench.when(
                .status(.leConnectionUpdate, .commandDisallowed),
                expect: .event(.connectionUpdateFailed(link, .commandDisallowed)))
        } else {
            bench.when(.status(.leConnectionUpdate), expect: .nothing)
            bench.when(
                .event(
                    .leConnectionUpdateComplete(
                        .unacceptableConnectionParameters, link, interval: 0, peripheralLatency: 0,
                        supervisionTimeout: 0)),
                expect: .event(.connectionUpdateFailed(link, .unacceptableConnectionParameters)))
        }
    }

    // MARK: Silence

    @Test("a busy controller silent for two minutes gets a command, and has failed two seconds later")
    func silence() {
        var bench = connected()
        bench.wait(.milliseconds(119_999))
        bench.wait(.milliseconds(1), expect: Self.probe)
        bench.wait(.milliseconds(1999))
        bench.wait(
            .milliseconds(1), expect: .event(.disconnected(connection, reason: .connectionTimeout)),
            .event(.failed(.noAnswer(.readBDADDR))))
    }

    @Test("any event of the controller puts off the check for silence")
    func signsOfLife() {
        var bench = connected()
        bench.wait(.seconds(80))
        bench.given(.attribute([0x1B, 3, 0, 1]))
        bench.wait(.seconds(40))
        bench.wait(.milliseconds(79_999))
        bench.wait(.milliseconds(1), expect: Self.probe)
        bench.when(Self.probeAnswer, expect: .nothing)
        bench.wait(.milliseconds(119_999))
        bench.wait(.milliseconds(1), expect: Self.probe)
    }

    @Test("an idle controller is not checked for silence")
    func idle() {
        var talk = Bench().talk
        talk.wait(.seconds(86_400))
        #expect(talk.given(.timerFired).isEmpty)
    }

    @Test("a command without answer is followed by one that every controller answers, whose silence is a failure")
    func silentCommand() {
        for isGone in [true, false] {
            var bench = Bench()
            bench.when(.perform(.setAcceptList([kitchen])), expect: .command(.leAddDeviceToFilterAcceptList(kitchen)))
            let effects = {
                bench.talk.wait(.seconds(2))
                return bench.given(.timerFired)
            }()
            #expect(effects.first == .event(.anomaly("no answer to 0x2011")))
            #expect(effects.contains(Self.probe))
            if isGone {
                bench.wait(.seconds(2), expect: .event(.failed(.noAnswer(.readBDADDR))))
            } else {
                #expect(!bench.given(Self.probeAnswer).contains { $0.isFailure })
            }
        }
    }

    // MARK: Events without a cause

    @Test("events about unknown links change nothing")
    func unknownLinks() {
        var bench = connected()
        bench.when(
            .event(.disconnectionComplete(.success, otherLink, reason: .connectionTimeout)),
            expect: .event(.anomaly("Disconnection Complete for unknown link 65")))
        bench.when(
            .event(
                .leConnectionUpdateComplete(
                    .connectionTimeout, otherLink, interval: 0, peripheralLatency: 0, supervisionTimeout: 0)),
            expect: .nothing)
        bench.when(
            .freed(3, of: otherLink), expect: .event(.anomaly("more packets of link 65 completed than were sent")))
        bench.when(Self.write, expect: .attribute(Self.written))
    }

    @Test("a command allowance without a command is accepted, and an answer to no command is an anomaly")
    func answersToNothing() {
        var bench = connected()
        bench.when(
            .event(.commandComplete(HCIOpcode(rawValue: 0), allowance: 1, returnParameters: [])), expect: .nothing)
        bench.when(
            .completed(.leSetScanEnable),
            expect: .event(.anomaly("an unexpected answer to 0x200c")))
    }

    @Test("a new connection with a handle in use ends the link that had it")
    func handleAgain() {
        var bench = connected()
        let next = LEConnection(handle: link, peer: hall, role: .central)
        bench.when(
            .event(.leConnectionComplete(.up(next))),
            expect: .event(.disconnected(connection, reason: .unknownConnectionIdentifier)), .event(.connected(next)))
    }

    @Test("a new connection of a connected peer ends its old link, at the controller too")
    func peerAgain() {
        var bench = connected()
        let next = LEConnection(handle: otherLink, peer: kitchen, role: .central)
        bench.when(
            .event(.leConnectionComplete(.up(next))),
            expect: .command(.disconnect(link, reason: .remoteUserTerminated)),
            .event(.disconnected(connection, reason: .connectionTimeout)), .event(.connected(next)))
        bench.when(.status(.disconnect, .unknownConnectionIdentifier), expect: .nothing)
    }

    @Test("after a data buffer overflow, links with data under way are disconnected")
    func overflow() {
        var bench = connected()
        bench.connect(otherLink, hall)
        bench.when(Self.write, expect: .attribute(Self.written))
        bench.when(
            .event(.dataBufferOverflow(linkType: 1)),
            expect: .event(.anomaly("the controller's data buffers overflowed")),
            .command(.disconnect(link, reason: .remoteUserTerminated)))
    }

    // MARK: Data before its connection event

    @Test("data that comes before its connection event is delivered after it, in order")
    func earlyData() {
        var bench = Bench()
        bench.when(.attribute([0x1B, 3, 0, 1]), expect: .nothing)
        bench.when(.attribute([0x1B, 3, 0, 2]), expect: .nothing)
        bench.wait(.milliseconds(1000))
        let attribute = AttributeHandle(rawValue: 3)
        bench.when(
            .event(.leConnectionComplete(.up(connection))), expect: .event(.connected(connection)),
            .event(.notified(link, attribute, [1])), .event(.notified(link, attribute, [2])))
    }

    @Test("data that comes more than a second before its connection event is dropped")
    func tooEarly() {
        var bench = Bench()
        bench.when(.attribute([0x1B, 3, 0, 1]), expect: .nothing)
        bench.wait(.milliseconds(1001))
        bench.when(.event(.leConnectionComplete(.up(connection))), expect: .event(.connected(connection)))
    }

    @Test("data of a link that has just ended is dropped, and not delivered on the next link")
    func lateData() {
        var bench = connected()
        bench.given(.event(.disconnectionComplete(.success, link, reason: .connectionTimeout)))
        bench.when(
            .attribute([0x1B, 3, 0, 1]), expect: .event(.anomaly("data for unknown link 64")))
        bench.when(.event(.leConnectionComplete(.up(connection))), expect: .event(.connected(connection)))
    }

    @Test("at most sixteen packets are kept for connection events to come")
    func earlyBound() {
        var bench = Bench()
        for number in 0..<16 as Range<UInt8> { bench.when(.attribute([0x1B, 3, 0, number]), expect: .nothing) }
        bench.when(
            .attribute([0x1B, 3, 0, 16], on: otherLink), expect: .event(.anomaly("data for unknown link 65"))
        )
        #expect(bench.given(.event(.leConnectionComplete(.up(connection)))).count == 17)
    }
}

extension LEHost.Effect {
    fileprivate var isFailure: Bool {
        if case .event(.failed) = self { true } else { false }
    }
}
