import BluetoothHost
import ButtonModel
import Simulator
import TestSupport
import Testing

@Suite("Air")
struct AirTranscriptTests {
    /// Station 0 is a central, 1 and 2 are peripherals; every host has unmasked its events.
    static func air(_ change: (inout Air.Configuration) -> Void = { _ in }) -> Transcript<Air> {
        var configuration = Air.Configuration()
        change(&configuration)
        let controllers = [centralAddress, peripheralAddress, strangerAddress]
            .map { VirtualController.Configuration(address: $0) }
        var talk = Transcript(Air(controllers, configuration, seed: 1, at: Instant(sinceBoot: .zero)))
        for station in 0..<3 {
            for packet in Packet.unmask { talk.given(.received(packet, from: station)) }
        }
        return talk
    }

    static func linked() -> Transcript<Air> {
        var talk = air()
        talk.given(.received(Packet.advertisingParameters(), from: 1))
        talk.given(.received(Packet.advertise, from: 1))
        talk.given(.received(Packet.createConnection(to: peripheralAddress), from: 0))
        talk.wait(.milliseconds(100))
        talk.given(.timerFired)
        return talk
    }

    static func report(_ kind: UInt8, _ address: BluetoothAddress, _ data: [UInt8]) -> [UInt8] {
        [0x04, 0x3E, UInt8(12 + data.count), 0x02, 0x01, kind, 0x00] + address.wireOctets + [UInt8(data.count)] + data
            + [UInt8(bitPattern: -60)]
    }

    @Test("a scanner receives an advertiser at the next multiple of its interval, and once")
    func scanning() {
        var talk = Self.air()
        talk.given(.received(Packet.advertisingParameters(interval: 160), from: 1))
        talk.given(.received(Packet.advertisingData(data: [2, 1, 6]), from: 1))
        talk.given(.received(Packet.advertisingData(.leSetScanResponseData, data: [3, 0xFF, 0x0F, 0x03]), from: 1))
        talk.when(
            .received(Packet.advertise, from: 1), expect: .send(Packet.complete(.leSetAdvertisingEnable, [0]), to: 1))
        talk.wait(.milliseconds(250))
        talk.given(.received(Packet.scanParameters, from: 0))
        talk.when(
            .received(Packet.scan(), from: 0), expect: .send(Packet.complete(.leSetScanEnable, [0]), to: 0),
            .setTimer(Instant(sinceBoot: .milliseconds(300))))
        talk.wait(.milliseconds(50))
        talk.when(
            .timerFired, expect: .send(Self.report(0, peripheralAddress, [2, 1, 6]), to: 0),
            .send(Self.report(4, peripheralAddress, [3, 0xFF, 0x0F, 0x03]), to: 0))
    }

    @Test("both ends of a link measure the signal strength that a scanner would report")
    func signal() {
        var talk = Self.linked()
        for station in 0...1 {
            talk.when(
                .received(Packet.command(.readRSSI, [0x40, 0]), from: station),
                expect: .send(Packet.complete(.readRSSI, [0, 0x40, 0, UInt8(bitPattern: -60)]), to: station))
        }
    }

    @Test("an advertiser with new data is reported again")
    func newData() {
        var talk = Self.air()
        talk.given(.received(Packet.advertisingParameters(interval: 160), from: 1))
        talk.given(.received(Packet.advertise, from: 1))
        talk.given(.received(Packet.command(.leSetScanParameters, [0, 0x10, 0, 0x10, 0, 0, 0]), from: 0))
        talk.given(.received(Packet.scan(), from: 0))
        talk.wait(.milliseconds(100))
        talk.when(.timerFired, expect: .send(Self.report(0, peripheralAddress, []), to: 0))
        talk.when(
            .received(Packet.advertisingData(data: [2, 1, 6]), from: 1),
            expect: .send(Packet.complete(.leSetAdvertisingData, [0]), to: 1), .setTimer(talk.now + .milliseconds(100)))
    }

    @Test("without duplicate filtering every interval is reported, and a late timer reports no missed intervals")
    func duplicates() {
        var talk = Self.air()
        talk.given(.received(Packet.advertisingParameters(interval: 32), from: 1))
        talk.given(.received(Packet.advertise, from: 1))
        talk.given(.received(Packet.scan(filterDuplicates: false), from: 0))
        let report = Air.Effect.send(Self.report(0, peripheralAddress, []), to: 0)
        talk.wait(.milliseconds(20))
        talk.when(.timerFired, expect: report, .setTimer(Instant(sinceBoot: .milliseconds(40))))
        talk.wait(.milliseconds(70))
        talk.when(.timerFired, expect: report, .setTimer(Instant(sinceBoot: .milliseconds(100))))
    }

    @Test("no timer is set without a listener, or without an advertiser that it wants")
    func idle() {
        var talk = Self.air()
        talk.given(.received(Packet.advertisingParameters(), from: 1))
        talk.when(
            .received(Packet.advertise, from: 1), expect: .send(Packet.complete(.leSetAdvertisingEnable, [0]), to: 1))
        talk.when(
            .received(Packet.createConnection(to: strangerAddress), from: 0),
            expect: .send(Packet.status(.leCreateConnection, .success), to: 0))
    }

    @Test("an initiator and the advertiser in its accept list are linked at their meeting")
    func acceptList() {
        var talk = Self.air()
        talk.given(.received(Packet.accept(strangerAddress), from: 0))
        talk.given(.received(Packet.createConnection(to: nil), from: 0))
        for station in [1, 2] {
            talk.given(.received(Packet.advertisingParameters(interval: 32), from: station))
            talk.given(.received(Packet.advertise, from: station))
        }
        talk.wait(.milliseconds(20))
        talk.when(
            .timerFired, expect: .send(Packet.connected(0x40, role: 0, peer: strangerAddress), to: 0),
            .send(Packet.connected(0x40, role: 1, peer: centralAddress), to: 2))
    }

    @Test("data takes a millisecond, in order, and frees its buffers on arrival")
    func data() {
        var talk = Self.linked()
        talk.when(
            .received(Packet.acl(0x40, [1]), from: 0), expect: .setTimer(talk.now + .milliseconds(1)))
        talk.when(.received(Packet.acl(0x40, isFirst: false, [2]), from: 0), expect: .nothing)
        talk.wait(.milliseconds(1))
        talk.when(
            .timerFired, expect: .send(Packet.aclToHost(0x40, [1]), to: 1), .send(Packet.completed(0x40), to: 0),
            .send(Packet.aclToHost(0x40, isFirst: false, [2]), to: 1), .send(Packet.completed(0x40), to: 0))
    }

    @Test("the side that disconnects gets status 0x16, and the other side gets the reason")
    func disconnect() {
        var talk = Self.linked()
        talk.when(
            .received(Packet.disconnect(0x40), from: 0), expect: .send(Packet.status(.disconnect, .success), to: 0),
            .setTimer(talk.now + .milliseconds(1)))
        talk.when(
            .received(Packet.disconnect(0x40), from: 0),
            expect: .send(Packet.status(.disconnect, .commandDisallowed), to: 0))
        talk.wait(.milliseconds(1))
        talk.when(
            .timerFired, expect: .send(Packet.disconnected(0x40, 0x13), to: 1),
            .send(Packet.disconnected(0x40, 0x16), to: 0))
        talk.when(
            .received(Packet.disconnect(0x40), from: 0),
            expect: .send(Packet.status(.disconnect, .unknownConnectionIdentifier), to: 0))
    }

    @Test("a peer out of reach ends the link with 0x08 at both ends when the supervision timeout has passed")
    func supervision() {
        var talk = Self.linked()
        talk.when(.setReachable(1, false), expect: .setTimer(talk.now + .seconds(6)))
        talk.wait(.milliseconds(5999))
        talk.when(.timerFired, expect: .setTimer(talk.now + .milliseconds(1)))
        talk.wait(.milliseconds(1))
        talk.when(
            .timerFired, expect: .send(Packet.disconnected(0x40, 0x08), to: 0),
            .send(Packet.disconnected(0x40, 0x08), to: 1))
    }

    @Test("data in transit arrives if the peer is back within the supervision timeout")
    func backInTime() {
        var talk = Self.linked()
        talk.given(.setReachable(1, false))
        talk.given(.received(Packet.acl(0x40, [1]), from: 0))
        talk.wait(.seconds(2))
        talk.given(.timerFired)
        talk.when(
            .setReachable(1, true), expect: .send(Packet.aclToHost(0x40, [1]), to: 1),
            .send(Packet.completed(0x40), to: 0), .cancelTimer)
    }

    @Test("ending a link to a peer out of reach completes at the supervision timeout")
    func disconnectUnreachable() {
        var talk = Self.linked()
        talk.given(.setReachable(1, false))
        talk.given(.received(Packet.disconnect(0x40), from: 0))
        talk.wait(.seconds(6))
        talk.when(
            .timerFired, expect: .send(Packet.disconnected(0x40, 0x16), to: 0),
            .send(Packet.disconnected(0x40, 0x08), to: 1))
    }

    @Test("a controller that was reset may be linked again while its old peer still waits for the timeout")
    func resetCentral() {
        var talk = Self.linked()
        talk.when(
            .received(Packet.command(.reset), from: 0), expect: .send(Packet.complete(.reset, [0]), to: 0),
            .setTimer(talk.now + .seconds(6)))
        for packet in Packet.unmask { talk.given(.received(packet, from: 0)) }
        talk.given(.received(Packet.advertisingParameters(), from: 2))
        talk.given(.received(Packet.advertise, from: 2))
        talk.given(.received(Packet.createConnection(to: strangerAddress), from: 0))
        talk.wait(.milliseconds(100))
        talk.when(
            .timerFired, expect: .send(Packet.connected(0x40, role: 0, peer: strangerAddress), to: 0),
            .send(Packet.connected(0x40, role: 1, peer: centralAddress), to: 2),
            .setTimer(talk.now + .milliseconds(5900)))
        talk.wait(.milliseconds(5900))
        talk.when(.timerFired, expect: .send(Packet.disconnected(0x40, 0x08), to: 1))
    }

    @Test("the central's update reaches both ends")
    func update() {
        var talk = Self.linked()
        let complete: [UInt8] = [0x04, 0x3E, 0x0A, 0x03, 0x00, 0x40, 0, 0x28, 0, 0, 0, 0x58, 0x02]
        talk.when(
            .received(Packet.command(.leConnectionUpdate, [0x40, 0] + Packet.connectionParameters), from: 0),
            expect: .send(Packet.status(.leConnectionUpdate, .success), to: 0), .setTimer(talk.now + .milliseconds(1)))
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .send(complete, to: 0), .send(complete, to: 1))
    }

    @Test("a link that a fragment breaks is lost at both ends at the supervision timeout", arguments: UInt64(0)..<3)
    func loss(_ seed: UInt64) {
        var talk = Self.air { $0.linkLossesPerMillion = 1_000_000 }
        talk.given(.received(Packet.advertisingParameters(), from: 1))
        talk.given(.received(Packet.advertise, from: 1))
        talk.given(.received(Packet.createConnection(to: peripheralAddress), from: 0))
        talk.wait(.milliseconds(100))
        talk.given(.timerFired)
        talk.given(.received(Packet.acl(0x40, [1]), from: 0))
        talk.wait(.milliseconds(1))
        talk.when(.timerFired, expect: .setTimer(talk.now + .milliseconds(5999)))
        talk.wait(.milliseconds(5999))
        talk.when(
            .timerFired, expect: .send(Packet.disconnected(0x40, 0x08), to: 0),
            .send(Packet.disconnected(0x40, 0x08), to: 1))
    }

    @Test("a delayed packet arrives when it is due, unless the power was lost meanwhile", arguments: [true, false])
    func lateEvent(isPowered: Bool) {
        var talk = Self.air()
        talk.given(.received(Packet.advertisingParameters(), from: 1))
        talk.given(.received(Packet.advertise, from: 1))
        talk.when(.fault(0, .delayConnectionComplete(.milliseconds(40))), expect: .nothing)
        talk.given(.received(Packet.createConnection(to: peripheralAddress), from: 0))
        talk.wait(.milliseconds(100))
        talk.when(
            .timerFired, expect: .send(Packet.connected(0x40, role: 1, peer: centralAddress), to: 1),
            .setTimer(talk.now + .milliseconds(40)))
        if !isPowered { talk.given(.powerCycled(0)) }
        talk.wait(.milliseconds(40))
        let late = talk.given(.timerFired).contains(
            .send(Packet.connected(0x40, role: 0, peer: peripheralAddress), to: 0))
        #expect(late == isPowered)
    }

    /// A controller whose host has connected to another one, and gets the connection event 40 ms late.
    private static func withLateConnection() -> Transcript<Air> {
        var talk = air()
        talk.given(.received(Packet.advertisingParameters(), from: 1))
        talk.given(.received(Packet.advertise, from: 1))
        talk.given(.fault(0, .delayConnectionComplete(.milliseconds(40))))
        talk.given(.received(Packet.createConnection(to: peripheralAddress), from: 0))
        talk.wait(.milliseconds(100))
        talk.given(.timerFired)
        return talk
    }

    @Test("what follows a delayed connection event on its link waits behind it, also if the link has ended")
    func lateEventOrder() {
        var talk = Self.withLateConnection()
        talk.given(.received(Packet.disconnect(0x40), from: 1))
        talk.wait(.milliseconds(1))
        #expect(!talk.given(.timerFired).contains(.send(Packet.disconnected(0x40, 0x13), to: 0)))
        talk.wait(.milliseconds(39))
        let events = talk.given(.timerFired)
        #expect(
            events.prefix(2) == [
                .send(Packet.connected(0x40, role: 0, peer: peripheralAddress), to: 0),
                .send(Packet.disconnected(0x40, 0x13), to: 0),
            ])
    }

    @Test("a delayed connection event is not sent any more when the host has reset the controller")
    func lateEventReset() {
        var talk = Self.withLateConnection()
        talk.given(.received(Packet.command(.reset), from: 0))
        talk.wait(.milliseconds(40))
        #expect(
            !talk.given(.timerFired).contains(.send(Packet.connected(0x40, role: 0, peer: peripheralAddress), to: 0)))
    }
}
