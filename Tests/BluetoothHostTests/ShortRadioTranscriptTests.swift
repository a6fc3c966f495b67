import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("A controller with less of everything")
struct ShortRadioTranscriptTests {
    private static let attic = BluetoothAddress(rawValue: 0x80E4_DA00_0003)
    private static let cellar = BluetoothAddress(rawValue: 0x80E4_DA00_0004)
    private static let cancelled = Host.Input.event(.leConnectionComplete(.failed(.unknownConnectionIdentifier)))
    private static let scan: [HCICommand] = [
        .leSetScanParameters(.init(isActive: true, interval: 0x60, window: 0x60)),
        .leSetScanEnable(true, filterDuplicates: false),
    ]
    private static let stopScan = HCICommand.leSetScanEnable(false, filterDuplicates: false)

    private static func create(_ peer: BluetoothAddress? = nil) -> HCICommand {
        .leCreateConnection(
            .init(
                scanInterval: 0x60, scanWindow: 0x60, peer: peer,
                connection: Host.Configuration().connectionParameters))
    }

    private func connected(
        _ bench: inout Bench, _ peer: BluetoothAddress, _ handle: ConnectionHandle, expect effects: Host.Effect...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let connection = Connection(handle: handle, peer: peer, role: .central)
        let got = bench.given(.event(.leConnectionComplete(.up(connection))))
        #expect(got == [.event(.connected(connection))] + effects, sourceLocation: sourceLocation)
    }

    // MARK: A short list

    @Test("four buttons in a list of two: the first stays, the others take turns of two seconds")
    func turns() {
        var bench = Bench()
        bench.when(
            .perform(.setAcceptList([kitchen, hall, Self.attic, Self.cellar])),
            expect: .event(.acceptListTurned(waiting: [Self.attic, Self.cellar])),
            .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection))
        for (leaving, coming, waiting) in [
            (hall, Self.attic, [Self.cellar, hall]), (Self.attic, Self.cellar, [hall, Self.attic]),
            (Self.cellar, hall, [Self.attic, Self.cellar]),
        ] {
            bench.wait(.milliseconds(1999))
            bench.wait(
                .milliseconds(1), expect: .event(.acceptListTurned(waiting: waiting)),
                .command(.leCreateConnectionCancel))
            bench.when(.completed(.leCreateConnectionCancel))
            bench.when(Self.cancelled, expect: .command(.leRemoveDeviceFromFilterAcceptList(leaving)))
            bench.when(
                .completed(.leRemoveDeviceFromFilterAcceptList),
                expect: .command(.leAddDeviceToFilterAcceptList(coming)))
            bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
            bench.when(.status(.leCreateConnection))
        }
    }

    @Test("without a list every peer is looked for in turn, the first every other time")
    func noList() {
        var info = Bench.info
        info.acceptListSize = 0
        var bench = Bench(info: info)
        bench.when(
            .perform(.setAcceptList([kitchen, hall, Self.attic])),
            expect: .event(.acceptListTurned(waiting: [hall, Self.attic])), .command(Self.create(kitchen)))
        for (peer, waiting) in [
            (hall, [kitchen, Self.attic]), (kitchen, [Self.attic, hall]), (Self.attic, [kitchen, hall]),
        ] {
            bench.when(.status(.leCreateConnection))
            bench.wait(
                .seconds(2), expect: .event(.acceptListTurned(waiting: waiting)), .command(.leCreateConnectionCancel))
            bench.when(.completed(.leCreateConnectionCancel))
            bench.when(Self.cancelled, expect: .command(Self.create(peer)))
        }
    }

    @Test("a list that may not be changed is the sign of a connection left over: it is cancelled")
    func lockedList() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen, hall])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList, .commandDisallowed))
        bench.when(
            .completed(.leAddDeviceToFilterAcceptList, .commandDisallowed),
            expect: .event(.connectionFailed(.commandDisallowed)), .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel))
        bench.when(Self.cancelled)
        bench.wait(.milliseconds(250), expect: .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
    }

    // MARK: Few links

    @Test(
        "a limit the controller tells is told once, and nothing is pending until a link ends or a minute has passed",
        arguments: [HCIStatus.connectionLimitExceeded, .memoryCapacityExceeded], [true, false])
    func linkLimit(status: HCIStatus, isToldLater: Bool) {
        var bench = Bench()
        bench.connect(otherLink, hall)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        if isToldLater {
            bench.when(.status(.leCreateConnection))
            bench.when(.event(.leConnectionComplete(.failed(status))), expect: .event(.linkLimitReached(links: 1)))
        } else {
            bench.when(.status(.leCreateConnection, status), expect: .event(.linkLimitReached(links: 1)))
        }
        // In case it thinks better of it, it is asked every minute; its answer is no news.
        bench.wait(.milliseconds(59_999))
        bench.wait(.milliseconds(1), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection, status))
        // Somebody else wanted: asked again, refused again, and nothing new to tell.
        bench.when(
            .perform(.setAcceptList([kitchen, Self.attic])),
            expect: .command(.leAddDeviceToFilterAcceptList(Self.attic)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection, status))
        bench.when(
            .event(.disconnectionComplete(.success, otherLink, reason: .remoteUserTerminated)),
            expect: .event(
                .disconnected(Connection(handle: otherLink, peer: hall, role: .central), reason: .remoteUserTerminated)),
            .command(Self.create()))
    }

    @Test("a limit where there is no link is a failure like others, tried again after a pause")
    func limitWithoutLinks() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(
            .status(.leCreateConnection, .connectionLimitExceeded),
            expect: .event(.connectionFailed(.connectionLimitExceeded)))
        bench.wait(.milliseconds(250), expect: .command(Self.create()))
    }

    @Test("of two links allowed the second is the last, until one of them ends")
    func maximumLinks() {
        var bench = Bench(.init(maximumLinks: 2))
        bench.given(.perform(.setAcceptList([kitchen, hall, Self.attic])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(.status(.leCreateConnection))
        connected(
            &bench, kitchen, link, expect: .event(.acceptListTurned(waiting: [])),
            .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
        bench.when(
            .completed(.leRemoveDeviceFromFilterAcceptList),
            expect: .command(.leAddDeviceToFilterAcceptList(Self.attic)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection))
        connected(&bench, hall, otherLink, expect: .event(.linkLimitReached(links: 2)))
        bench.wait(.seconds(60))
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .connectionTimeout)),
            expect: .event(
                .disconnected(Connection(handle: link, peer: kitchen, role: .central), reason: .connectionTimeout)),
            .command(.leRemoveDeviceFromFilterAcceptList(hall)))
    }

    @Test("with everybody connected a limit is nobody's concern")
    func limitUnnoticed() {
        var bench = Bench(.init(maximumLinks: 1))
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(.status(.leCreateConnection))
        connected(&bench, kitchen, link)
    }

    // MARK: One radio for two

    @Test("a controller that says it cannot do both scans and waits for buttons in turns")
    func radioTurns() {
        var info = Bench.info
        info.scansWhileInitiating = false
        var bench = Bench(info: info)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection))
        // It is not asked for what it has said it cannot do.
        bench.when(.perform(.startScanning(active: true)), expect: .command(.leCreateConnectionCancel))
        for _ in 0..<3 {
            bench.when(.completed(.leCreateConnectionCancel))
            bench.when(Self.cancelled, expect: .command(Self.scan[0]))
            bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
            bench.when(.completed(.leSetScanEnable))
            bench.wait(.milliseconds(2999))
            bench.wait(.milliseconds(1), expect: .command(Self.stopScan))
            bench.when(.completed(.leSetScanEnable), expect: .command(Self.create()))
            bench.when(.status(.leCreateConnection))
            bench.wait(.milliseconds(1999))
            bench.wait(.milliseconds(1), expect: .command(.leCreateConnectionCancel))
        }
        bench.when(.perform(.stopScanning))
        bench.when(.completed(.leCreateConnectionCancel))
        bench.when(Self.cancelled, expect: .command(Self.create()))
    }

    @Test("with nobody to connect to, scanning keeps the radio")
    func radioUnwanted() {
        var info = Bench.info
        info.scansWhileInitiating = false
        var bench = Bench(info: info)
        bench.when(.perform(.startScanning(active: true)), expect: .command(Self.scan[0]))
        bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
        bench.when(.completed(.leSetScanEnable))
        for _ in 0..<5 { bench.wait(.seconds(3)) }
        bench.when(.perform(.stopScanning), expect: .command(Self.stopScan))
    }

    @Test("one that only refuses to connect while it scans is told apart by that")
    func learned() {
        var bench = Bench()
        bench.given(.perform(.startScanning(active: true)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(.completed(.leSetScanEnable))
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection, .commandDisallowed))
        bench.wait(.seconds(3), expect: .command(Self.stopScan))
        bench.when(.completed(.leSetScanEnable), expect: .command(Self.create()))
        bench.when(.status(.leCreateConnection))
        bench.wait(.seconds(2), expect: .command(.leCreateConnectionCancel))
    }

    @Test("a controller that does not scan at all says so")
    func scanningFailed() {
        var bench = Bench()
        bench.given(.perform(.startScanning(active: true)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(
            .completed(.leSetScanEnable, .memoryCapacityExceeded),
            expect: .event(.scanningFailed(.memoryCapacityExceeded)))
    }
}
