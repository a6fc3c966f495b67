import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("Set-up of the controller")
struct SetUpTranscriptTests {
    private static let commands: [HCICommand] = [
        .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBDADDR,
        .setEventMask(0x2000_0000_0200_8010), .leSetEventMask(0x27), .leReadBufferSize, .leReadSupportedStates,
        .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    ]

    /// Sends the answers of a good controller, except to the opcodes in `instead`.
    private func setUp(
        _ info: ControllerInfo = Bench.info, instead: [HCIOpcode: LEHost.Input] = [:]
    ) -> (sent: [[UInt8]], events: [LEHost.Event], talk: Transcript<LEHost>) {
        var talk = Transcript(LEHost())
        var effects = talk.given(.transportOpened)
        for (opcode, parameters) in Bench.setUpAnswers(info) {
            effects += talk.given(instead[opcode] ?? .completed(opcode, .success, parameters))
        }
        var (sent, events): ([[UInt8]], [LEHost.Event]) = ([], [])
        for effect in effects {
            switch effect {
            case .send(let packet): sent.append(packet)
            case .event(let event): events.append(event)
            case .setTimer, .cancelTimer: break
            }
        }
        return (sent, events, talk)
    }

    @Test("a controller is ready after ten commands")
    func success() {
        let (sent, events, _) = setUp()
        #expect(sent == Self.commands.map(\.packet))
        #expect(events == [.ready(Bench.info)])
    }

    @Test("one command is under way at a time, and each may take two seconds")
    func timing() {
        var talk = Transcript(LEHost())
        let deadline = talk.now + .seconds(2)
        talk.when(.transportOpened, expect: .command(.reset), .setTimer(deadline))
        talk.wait(.milliseconds(5))
        talk.when(
            .completed(.reset),
            expect: .command(.readLocalVersionInformation), .setTimer(talk.now + .seconds(2)))
    }

    @Test("a controller behind a program such as ssh has twenty seconds for its first answer, and two for the others")
    func slowStart() {
        var talk = Transcript(LEHost(.init(resetTimeout: .seconds(20))))
        talk.when(.transportOpened, expect: .command(.reset), .setTimer(talk.now + .seconds(20)))
        talk.wait(.seconds(19))
        talk.when(
            .completed(.reset),
            expect: .command(.readLocalVersionInformation), .setTimer(talk.now + .seconds(2)))
    }

    @Test(
        "a required command without answer fails the set-up",
        arguments: [
            HCIOpcode.reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBDADDR, .leReadBufferSize,
        ])
    func silence(opcode: HCIOpcode) {
        var talk = Transcript(LEHost())
        talk.given(.transportOpened)
        for (answered, parameters) in Bench.setUpAnswers(Bench.info).prefix(while: { $0.0 != opcode }) {
            talk.given(.completed(answered, .success, parameters))
        }
        talk.wait(.milliseconds(1999))
        let deadline = talk.now + .milliseconds(1)
        talk.when(.timerFired, expect: .setTimer(deadline))
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .event(.failed(.noAnswer(opcode))))
        talk.when(.completed(opcode), expect: .nothing)
        #expect(talk.given(.perform(.startScanning(active: true))).isEmpty)
    }

    @Test(
        "an optional command without answer costs two seconds, and the set-up goes on",
        arguments: [
            HCIOpcode.setEventMask, .leSetEventMask, .leClearFilterAcceptList, .leReadSupportedStates,
            .leReadFilterAcceptListSize,
        ])
    func skipped(opcode: HCIOpcode) {
        var talk = Transcript(LEHost())
        var events = talk.given(.transportOpened)
        for (answered, parameters) in Bench.setUpAnswers(Bench.info) {
            if answered == opcode {
                talk.wait(.seconds(2))
                events = talk.given(.timerFired)
            } else if events.contains(where: { $0.isReady }) {
                break
            } else {
                events = talk.given(.completed(answered, .success, parameters))
            }
        }
        #expect(events.contains { $0.isReady })
    }

    @Test(
        "an optional command that the controller does not know is skipped",
        arguments: [HCIOpcode.setEventMask, .leSetEventMask, .leReadSupportedStates, .leClearFilterAcceptList])
    func unknownCommand(opcode: HCIOpcode) {
        let (_, events, _) = setUp(instead: [opcode: .status(opcode, .unknownCommand)])
        #expect(events == [.ready(Bench.info)])
    }

    @Test("an error to a required command fails the set-up")
    func refused() {
        let (_, events, _) = setUp(instead: [.readBDADDR: .completed(.readBDADDR, .unknownCommand)])
        #expect(events == [.failed(.refused(.readBDADDR, .unknownCommand))])
    }

    @Test("a controller without LE fails with that reason")
    func classicOnly() {
        let answer = LEHost.Input.completed(
            .readLocalSupportedFeatures, .success, [0xFF, 0xFF, 0xFF, 0xFF, 0xBF, 0xFF, 0xFF, 0xFF])
        let (_, events, _) = setUp(instead: [.readLocalSupportedFeatures: answer])
        #expect(events == [.failed(.notLowEnergy)])
    }

    @Test("a controller without LE buffers of its own shares those of BR/EDR")
    func sharedBuffers() {
        var talk = Transcript(LEHost())
        talk.given(.transportOpened)
        for (opcode, parameters) in Bench.setUpAnswers(Bench.info).prefix(6) {
            talk.given(.completed(opcode, .success, parameters))
        }
        let effects = talk.given(.completed(.leReadBufferSize, .success, [0, 0, 0]))
        #expect(effects.first == .command(.readBufferSize))
        talk.given(.completed(.readBufferSize, .success, [0x53, 0x01, 0, 8, 0, 0, 0]))
        talk.given(.completed(.leReadSupportedStates, .success, Bench.setUpAnswers(Bench.info)[7].1))
        talk.given(.completed(.leReadFilterAcceptListSize, .success, [2]))
        var info = Bench.info
        info.aclDataLength = 0x153
        info.aclBufferCount = 8
        #expect(talk.given(.completed(.leClearFilterAcceptList)).first == .event(.ready(info)))
    }

    @Test("a buffer too small for any link fails the set-up")
    func uselessBuffers() {
        let (_, events, _) = setUp(instead: [.leReadBufferSize: .completed(.leReadBufferSize, .success, [26, 0, 1])])
        #expect(events == [.failed(.malformed("1 ACL buffers of 26 octets"))])
    }

    @Test("an answer that is cut short fails the set-up")
    func shortAnswer() {
        let (_, events, _) = setUp(instead: [.readBDADDR: .completed(.readBDADDR, .success, [1, 2, 3])])
        #expect(events == [.failed(.malformed("the answer to 0x1009 is too short"))])
    }

    @Test("a command status of success does not answer a command that returns values")
    func statusFirst() {
        var talk = Transcript(LEHost())
        talk.given(.transportOpened)
        talk.wait(.milliseconds(5))
        talk.when(.status(.reset), expect: .command(.readLocalVersionInformation), .setTimer(talk.now + .seconds(2)))
        talk.when(.status(.readLocalVersionInformation), expect: .nothing)
        let effects = talk.given(.completed(.readLocalVersionInformation, .success, [12, 0, 0, 12, 0x0F, 0, 0, 0]))
        #expect(effects.first == .command(.readLocalSupportedFeatures))
    }

    @Test("the host waits for a controller that accepts no commands")
    func allowance() {
        var talk = Transcript(LEHost())
        talk.given(.transportOpened)
        talk.wait(.milliseconds(5))
        talk.when(
            .event(.commandComplete(.reset, allowance: 0, returnParameters: [0])),
            expect: .setTimer(talk.now + .seconds(2)))
        let effects = talk.given(.event(.commandComplete(HCIOpcode(rawValue: 0), allowance: 1, returnParameters: [])))
        #expect(effects.first == .command(.readLocalVersionInformation))
    }

    @Test("commands given before the controller is ready are sent when it is")
    func keptCommands() {
        var bench = Bench()
        bench.when(.transportClosed, expect: .nothing)
        bench.when(.perform(.startScanning(active: true)), expect: .nothing)
        bench.when(.perform(.setAcceptList([kitchen])), expect: .nothing)
        bench.talk.given(.transportOpened)
        for (opcode, parameters) in Bench.setUpAnswers(Bench.info).dropLast() {
            bench.given(.completed(opcode, .success, parameters))
        }
        bench.when(
            .completed(.leClearFilterAcceptList),
            expect: .event(.ready(Bench.info)), .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(
            .completed(.leAddDeviceToFilterAcceptList),
            expect: .command(.leSetScanParameters(.init(isActive: true, interval: 0x60, window: 0x60))))
    }

    @Test("a hardware error ends every link and fails the controller")
    func hardwareError() {
        var bench = Bench()
        bench.connect()
        let connection = LEConnection(handle: link, peer: kitchen, role: .central)
        bench.given(.perform(.exchangeMTU(link)))
        bench.when(
            .event(.hardwareError(0x42)),
            expect: .event(.procedureFailed(link, .exchangeMTU, .linkLost)),
            .event(.disconnected(connection, reason: .connectionTimeout)), .event(.failed(.hardwareError(0x42))))
        #expect(bench.given(.attribute([0x1B, 3, 0, 1])).isEmpty)
    }

    @Test("closing the transport ends every link and the timer")
    func closed() {
        var bench = Bench()
        bench.connect()
        bench.given(.perform(.exchangeMTU(link)))
        let connection = LEConnection(handle: link, peer: kitchen, role: .central)
        bench.talk.when(
            .transportClosed,
            expect: .event(.procedureFailed(link, .exchangeMTU, .linkLost)),
            .event(.disconnected(connection, reason: .connectionTimeout)), .cancelTimer)
    }
}

extension LEHost.Effect {
    fileprivate var isReady: Bool {
        if case .event(.ready) = self { true } else { false }
    }
}
