import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("RSSI of a link")
struct SignalTranscriptTests {
    private static let ask = LEHost.Input.perform(.readRSSI(link))
    private static let question = LEHost.Effect.command(.readRSSI(link))
    private static let probe = LEHost.Effect.command(.readBDADDR)

    private static func answered(_ rssi: Int8, _ handle: UInt8 = 0x40, _ status: HCIStatus = .success) -> LEHost.Input {
        .completed(.readRSSI, status, [handle, 0, UInt8(bitPattern: rssi)])
    }

    private func connected() -> Bench {
        var bench = Bench()
        bench.connect()
        return bench
    }

    @Test("the RSSI of a link is read from the controller in dBm")
    func asked() {
        var bench = connected()
        bench.when(Self.ask, expect: .send([0x01, 0x05, 0x14, 0x02, 0x40, 0x00]))
        bench.when(
            .received([0x04, 0x0E, 0x07, 0x01, 0x05, 0x14, 0x00, 0x40, 0x00, 0xC4]),
            expect: .event(.rssiRead(link, -60)))
        bench.wait(.seconds(60))
    }

    @Test("every RSSI in the range is reported, and the value for unknown is not")
    func range() {
        var bench = connected()
        for rssi: Int8 in [-127, 0, 20] {
            bench.when(Self.ask, expect: Self.question)
            bench.when(Self.answered(rssi), expect: .event(.rssiRead(link, rssi)))
        }
        bench.when(Self.ask, expect: Self.question)
        bench.when(Self.answered(127), expect: .nothing)
    }

    @Test("a second request for the same link sends no command, and links are read one after the other")
    func onceForEachLink() {
        var bench = connected()
        bench.connect(otherLink, hall)
        bench.when(Self.ask, expect: Self.question)
        bench.when(Self.ask, expect: .nothing)
        bench.when(.perform(.readRSSI(otherLink)), expect: .nothing)
        bench.when(.perform(.readRSSI(otherLink)), expect: .nothing)
        bench.when(
            Self.answered(-60), expect: .event(.rssiRead(link, -60)), .command(.readRSSI(otherLink)))
        bench.when(Self.answered(-70, 0x41), expect: .event(.rssiRead(otherLink, -70)))
        bench.when(Self.ask, expect: Self.question)
    }

    @Test("other commands follow the RSSI command, and data is sent without waiting for it")
    func inNobodysWay() {
        var bench = connected()
        bench.when(Self.ask, expect: Self.question)
        bench.when(.perform(.write(link, AttributeHandle(rawValue: 3), [7])), expect: .attribute([0x52, 3, 0, 7]))
        bench.when(.perform(.disconnect(link, reason: .remoteUserTerminated)), expect: .nothing)
        // A status that announces an answer is not the answer.
        bench.when(.status(.readRSSI), expect: .nothing)
        bench.when(
            Self.answered(-60), expect: .event(.rssiRead(link, -60)),
            .command(.disconnect(link, reason: .remoteUserTerminated)))
    }

    @Test(
        "a refused RSSI command is an anomaly, and an unknown one is not sent again",
        arguments: [HCIStatus.unknownCommand, .commandDisallowed, .invalidParameters], [true, false])
    func refused(status: HCIStatus, isCompleted: Bool) {
        var bench = connected()
        bench.when(Self.ask, expect: Self.question)
        bench.when(
            isCompleted ? .completed(.readRSSI, status) : .status(.readRSSI, status),
            expect: .event(.anomaly("0x1405 was refused: \(status)")))
        bench.when(.attribute([0x1B, 3, 0, 1]), expect: .event(.notified(link, AttributeHandle(rawValue: 3), [1])))
        if status == .unknownCommand {
            bench.when(Self.ask, expect: .event(.anomaly("0x1405 was refused: 0x01")))
        } else {
            bench.when(Self.ask, expect: Self.question)
        }
    }

    @Test(
        "an RSSI answer about another link or without a value is an anomaly",
        arguments: [[], [0x40, 0], [0x41, 0, 0xC4]])
    func garbled(parameters: [UInt8]) {
        var bench = connected()
        bench.connect(otherLink, hall)
        bench.when(Self.ask, expect: Self.question)
        bench.when(
            .completed(.readRSSI, .success, parameters),
            expect: .event(.anomaly("the answer to 0x1405 is invalid")))
        bench.when(Self.ask, expect: Self.question)
    }

    @Test("an RSSI command without answer is not sent again to a controller that answers another one")
    func silent() {
        var bench = connected()
        bench.when(Self.ask, expect: Self.question)
        bench.wait(.seconds(2), expect: .event(.anomaly("no answer to 0x1405")), Self.probe)
        bench.when(.completed(.readBDADDR, .success, Bench.info.address.wireOctets), expect: .nothing)
        bench.when(Self.ask, expect: .event(.anomaly("0x1405 was refused: 0x01")))
        bench.when(.attribute([0x1B, 3, 0, 1]), expect: .event(.notified(link, AttributeHandle(rawValue: 3), [1])))
    }

    @Test(
        "a command that was answered before is sent again after a silence, because only the way to the controller was interrupted"
    )
    func interrupted() {
        var bench = connected()
        bench.when(Self.ask, expect: Self.question)
        bench.given(Self.answered(-60))
        bench.when(Self.ask, expect: Self.question)
        bench.wait(.seconds(2), expect: .event(.anomaly("no answer to 0x1405")), Self.probe)
        bench.when(.completed(.readBDADDR, .success, Bench.info.address.wireOctets), expect: .nothing)
        bench.when(Self.ask, expect: Self.question)
    }

    @Test("the RSSI of an unknown link is not read, and the answer for an ended link is ignored")
    func goneLink() {
        var bench = connected()
        bench.when(.perform(.readRSSI(otherLink)), expect: .nothing)
        for answer in [Self.answered(-60), .completed(.readRSSI, .unknownConnectionIdentifier, [0x40, 0, 0])] {
            bench.when(Self.ask, expect: Self.question)
            bench.given(.event(.disconnectionComplete(.success, link, reason: .connectionTimeout)))
            bench.when(answer, expect: .nothing)
            bench.connect()
        }
        // The controller may report the end of the link by this status first.
        bench.when(Self.ask, expect: Self.question)
        bench.when(.completed(.readRSSI, .unknownConnectionIdentifier), expect: .nothing)
        bench.when(Self.ask, expect: Self.question)
    }
}
