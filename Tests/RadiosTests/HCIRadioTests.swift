import BluetoothHost
import ButtonModel
import Radios
import Testing

@Suite("A radio of our own")
struct HCIRadioTests {
    @Test("what belongs to another kind of radio has no effect")
    func otherKinds() {
        var radio = HCIRadio()
        let now = Instant(sinceBoot: .seconds(1000))
        #expect(radio.handle(.bus(.ownerLost), at: now).isEmpty)
        #expect(radio.handle(.busOpened(.any), at: now).isEmpty)
    }

    @Test("a link that comes up while its connection is cancelled stays if another radio looks for the button now")
    func movedAtConnection() {
        var talk = HCITalk()
        talk.perform(.expect([HCITalk.expected], unwanted: []))
        #expect(talk.takeSent().contains(.leCreateConnection))
        talk.perform(.expect([], unwanted: [], elsewhere: [HCITalk.hall]))
        #expect(talk.takeSent() == [.leCreateConnectionCancel])
        talk.connect()
        #expect(talk.takeConnected() == [HCITalk.hall])
        #expect(!talk.takeSent().contains(.disconnect))
    }

    @Test(
        "a link that comes up while its connection is cancelled is ended if no radio looks for the button any more",
        arguments: [[], [HCITalk.hall]], [true, false])
    func unwantedAtConnection(unwanted: [BluetoothAddress], wasMoved: Bool) {
        var talk = HCITalk()
        talk.perform(.expect([HCITalk.expected], unwanted: []))
        if wasMoved { talk.perform(.expect([], unwanted: [], elsewhere: [HCITalk.hall])) }
        talk.perform(.expect([], unwanted: unwanted))
        talk.connect()
        #expect(talk.takeConnected() == [])
        #expect(talk.takeSent().last == .disconnect)
    }

    @Test("a link to a button that this radio was never to connect is ended, though another radio looks for the button")
    func neverExpected() {
        var talk = HCITalk()
        talk.perform(.expect([], unwanted: [], elsewhere: [HCITalk.hall]))
        talk.connect()
        #expect(talk.takeConnected() == [])
        #expect(talk.takeSent() == [.disconnect])
    }
}

/// A radio that is ready, with a controller that carries out each command at once, except that a connection comes up when the test
/// says so, in spite of a cancellation.
private struct HCITalk {
    static let hall = BluetoothAddress(rawValue: 0x80E4_DA7B_0001)
    static let expected = ExpectedButton(hall, .flic2)
    private static let now = Instant(sinceBoot: .seconds(1000))

    private var radio = HCIRadio()
    private var sent: [HCIOpcode] = []
    private var connected: [BluetoothAddress] = []

    init() {
        feed(.transportOpened())
        _ = takeSent()
    }

    mutating func perform(_ command: RadioCommand) { feed(.perform(command)) }

    /// The controller has connected to the button.
    mutating func connect() {
        let connection = LEConnection(handle: ConnectionHandle(rawValue: 0x40), peer: Self.hall, role: .central)
        feed(
            .received(
                HCIEvent.leConnectionComplete(
                    LEConnectionComplete(
                        status: .success, connection: connection, interval: 12, peripheralLatency: 0,
                        supervisionTimeout: 600)
                ).packet))
    }

    /// The commands that the radio has sent since the last call.
    mutating func takeSent() -> [HCIOpcode] {
        defer { sent = [] }
        return sent
    }

    /// The buttons to which the radio has reported a link since the last call.
    mutating func takeConnected() -> [BluetoothAddress] {
        defer { connected = [] }
        return connected
    }

    private mutating func feed(_ input: RadioInput) {
        var inputs = [input]
        while !inputs.isEmpty {
            for effect in radio.handle(inputs.removeFirst(), at: Self.now) {
                switch effect {
                case .send(let packet):
                    guard packet.count > 2, packet[0] == 0x01 else { break }
                    let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
                    sent.append(opcode)
                    inputs.append(.received(Self.answer(opcode).packet))
                case .event(.connected(_, let address)): connected.append(address)
                case .event, .bus, .setTimer, .cancelTimer: break
                }
            }
        }
    }

    private static func answer(_ opcode: HCIOpcode) -> HCIEvent {
        switch opcode {
        case .leCreateConnection, .disconnect: .commandStatus(opcode, allowance: 1, .success)
        // The link is up, and its Connection Complete is on the way.
        case .leCreateConnectionCancel: .commandComplete(opcode, allowance: 1, returnParameters: [0x0C])
        case .readLocalSupportedFeatures: complete(opcode, [0, 0, 0, 0, 0x40, 0, 0, 0])
        // Buffers of 27 octets, four of them.
        case .leReadBufferSize: complete(opcode, [27, 0, 4])
        default: complete(opcode, [8, 0, 0, 8, 0, 0, 0, 0])
        }
    }

    private static func complete(_ opcode: HCIOpcode, _ parameters: [UInt8]) -> HCIEvent {
        .commandComplete(opcode, allowance: 1, returnParameters: [0x00] + parameters)
    }
}
