import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("Controllers with short lists, few links or one radio")
struct ShortRadioTranscriptTests {
    private static let attic = BluetoothAddress(rawValue: 0x80E4_DA00_0003)
    private static let cellar = BluetoothAddress(rawValue: 0x80E4_DA00_0004)
    private static let cancelled = LEHost.Input.event(.leConnectionComplete(.failed(.unknownConnectionIdentifier)))
    private static let scan: [HCICommand] = [
        .leSetScanParameters(.init(isActive: true, interval: 0x60, window: 0x60)),
        .leSetScanEnable(true, filterDuplicates: false),
    ]
    private static let stopScan = HCICommand.leSetScanEnable(false, filterDuplicates: false)

    private static func create(_ peer: BluetoothAddress? = nil) -> HCICommand {
        .leCreateConnection(
            .init(
                scanInterval: 0x60, scanWindow: 0x60, peer: peer,
                connection: LEHost.Configuration().connectionParameters))
    }

    private func connected(
        _ bench: inout Bench, _ peer: BluetoothAddress, _ handle: ConnectionHandle, expect effects: LEHost.Effect...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let connection = LEConnection(handle: handle, peer: peer, role: .central)
        let got = bench.given(.event(.leConnectionComplete(.up(connection))))
        #expect(got == [.event(.connected(connection))] + effects, sourceLocation: sourceLocation)
    }

    // MARK: A short accept list

    @Test(
        "with four peers and an accept list of two, the first peer stays listed, and the others take turns of two seconds, which is reported once"
    )
    func turns() {
        var bench = Bench()
        bench.when(
            .perform(.setAcceptList([kitchen, hall, Self.attic, Self.cellar])),
            expect: .event(.acceptListShared(by: [hall, Self.attic, Self.cellar])),
            .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        for (leaving, coming) in [(hall, Self.attic), (Self.attic, Self.cellar), (Self.cellar, hall)] {
            bench.wait(.milliseconds(1999))
            bench.wait(.milliseconds(1), expect: .command(.leCreateConnectionCancel))
            bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
            bench.when(Self.cancelled, expect: .command(.leRemoveDeviceFromFilterAcceptList(leaving)))
            bench.when(
                .completed(.leRemoveDeviceFromFilterAcceptList),
                expect: .command(.leAddDeviceToFilterAcceptList(coming)))
            bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
            bench.when(.status(.leCreateConnection), expect: .nothing)
        }
    }

    @Test("without an accept list each peer is connected to in turn, the first in every other turn")
    func noList() {
        var info = Bench.info
        info.acceptListSize = 0
        var bench = Bench(info: info)
        bench.when(
            .perform(.setAcceptList([kitchen, hall, Self.attic])),
            expect: .event(.acceptListShared(by: [kitchen, hall, Self.attic])), .command(Self.create(kitchen)))
        for peer in [hall, kitchen, Self.attic] {
            bench.when(.status(.leCreateConnection), expect: .nothing)
            bench.wait(.seconds(2), expect: .command(.leCreateConnectionCancel))
            bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
            bench.when(Self.cancelled, expect: .command(Self.create(peer)))
        }
    }

    @Test("a change of the accept list that is disallowed cancels a connection that was left pending")
    func lockedList() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen, hall])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList, .commandDisallowed))
        bench.when(
            .completed(.leAddDeviceToFilterAcceptList, .commandDisallowed),
            expect: .event(.connectionFailed(.commandDisallowed)), .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .nothing)
        bench.wait(.milliseconds(250), expect: .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
    }

    // MARK: Few links

    @Test(
        "a link limit is reported once, and the next connection is tried when a link ends or after a minute",
        arguments: [HCIStatus.connectionLimitExceeded, .memoryCapacityExceeded], [true, false])
    func linkLimit(status: HCIStatus, isToldLater: Bool) {
        var bench = Bench()
        bench.connect(otherLink, hall)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        if isToldLater {
            bench.when(.status(.leCreateConnection), expect: .nothing)
            bench.when(.event(.leConnectionComplete(.failed(status))), expect: .event(.linkLimitReached(links: 1)))
        } else {
            bench.when(.status(.leCreateConnection, status), expect: .event(.linkLimitReached(links: 1)))
        }
        // The limit may be temporary, so the host tries again every minute; the same refusal is not reported again.
        bench.wait(.milliseconds(59_999))
        bench.wait(.milliseconds(1), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection, status), expect: .nothing)
        // When another peer is added, the host tries at once, is refused, and reports nothing.
        bench.when(
            .perform(.setAcceptList([kitchen, Self.attic])),
            expect: .command(.leAddDeviceToFilterAcceptList(Self.attic)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection, status), expect: .nothing)
        bench.when(
            .event(.disconnectionComplete(.success, otherLink, reason: .remoteUserTerminated)),
            expect: .event(
                .disconnected(
                    LEConnection(handle: otherLink, peer: hall, role: .central), reason: .remoteUserTerminated)),
            .command(Self.create()))
    }

    @Test("a link limit without any link is a failed connection that is tried again after a wait")
    func limitWithoutLinks() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(
            .status(.leCreateConnection, .connectionLimitExceeded),
            expect: .event(.connectionFailed(.connectionLimitExceeded)))
        bench.wait(.milliseconds(250), expect: .command(Self.create()))
    }

    @Test("with a configured maximum of two links, no connection is pending while two links are up")
    func maximumLinks() {
        var bench = Bench(.init(maximumLinks: 2))
        bench.given(.perform(.setAcceptList([kitchen, hall, Self.attic])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        connected(
            &bench, kitchen, link, expect: .event(.acceptListShared(by: [])),
            .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
        bench.when(
            .completed(.leRemoveDeviceFromFilterAcceptList),
            expect: .command(.leAddDeviceToFilterAcceptList(Self.attic)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        connected(&bench, hall, otherLink, expect: .event(.linkLimitReached(links: 2)))
        bench.wait(.seconds(60))
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .connectionTimeout)),
            expect: .event(
                .disconnected(LEConnection(handle: link, peer: kitchen, role: .central), reason: .connectionTimeout)),
            .command(.leRemoveDeviceFromFilterAcceptList(hall)))
    }

    @Test("a link limit is not reported if every peer is connected")
    func limitUnnoticed() {
        var bench = Bench(.init(maximumLinks: 1))
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        connected(&bench, kitchen, link)
    }

    // MARK: Scanning and connecting in turns

    @Test("a controller that cannot scan while it initiates scans and connects in turns")
    func radioTurns() {
        var info = Bench.info
        info.scansWhileInitiating = false
        var bench = Bench(info: info)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        // The host cancels the connection first, because the controller said that it cannot do both.
        bench.when(.perform(.startScanning(active: true)), expect: .command(.leCreateConnectionCancel))
        for _ in 0..<3 {
            bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
            bench.when(Self.cancelled, expect: .command(Self.scan[0]))
            bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
            bench.when(.completed(.leSetScanEnable), expect: .nothing)
            bench.wait(.milliseconds(2999))
            bench.wait(.milliseconds(1), expect: .command(Self.stopScan))
            bench.when(.completed(.leSetScanEnable), expect: .command(Self.create()))
            bench.when(.status(.leCreateConnection), expect: .nothing)
            bench.wait(.milliseconds(1999))
            bench.wait(.milliseconds(1), expect: .command(.leCreateConnectionCancel))
        }
        bench.when(.perform(.stopScanning), expect: .nothing)
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(Self.create()))
    }

    @Test("with no peer to connect to, scanning is not interrupted")
    func radioUnwanted() {
        var info = Bench.info
        info.scansWhileInitiating = false
        var bench = Bench(info: info)
        bench.when(.perform(.startScanning(active: true)), expect: .command(Self.scan[0]))
        bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
        bench.when(.completed(.leSetScanEnable), expect: .nothing)
        for _ in 0..<5 { bench.wait(.seconds(3)) }
        bench.when(.perform(.stopScanning), expect: .command(Self.stopScan))
    }

    @Test("if a controller refuses to connect during a scan, scanning and connecting take turns")
    func learned() {
        var bench = Bench()
        bench.given(.perform(.startScanning(active: true)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(.completed(.leSetScanEnable), expect: .nothing)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection, .commandDisallowed), expect: .nothing)
        bench.wait(.seconds(3), expect: .command(Self.stopScan))
        bench.when(.completed(.leSetScanEnable), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        bench.wait(.seconds(2), expect: .command(.leCreateConnectionCancel))
    }

    @Test("a controller that cannot scan is reported")
    func scanningFailed() {
        var bench = Bench()
        bench.given(.perform(.startScanning(active: true)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(
            .completed(.leSetScanEnable, .memoryCapacityExceeded),
            expect: .event(.scanningFailed(.memoryCapacityExceeded)))
    }
}
