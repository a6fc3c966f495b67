import BluetoothHost
import ButtonModel
import TestSupport
import Testing

@Suite("The pending connection")
struct PendingConnectionTranscriptTests {
    private static let create = HCICommand.leCreateConnection(
        .init(
            scanInterval: 0x60, scanWindow: 0x60, peer: nil,
            connection: LEHost.Configuration().connectionParameters))
    private static let cancelled = LEHost.Input.event(.leConnectionComplete(.failed(.unknownConnectionIdentifier)))

    private static func connected(_ peer: BluetoothAddress, _ handle: ConnectionHandle = link) -> LEHost.Input {
        .event(.leConnectionComplete(.up(LEConnection(handle: handle, peer: peer, role: .central))))
    }

    private static func event(_ peer: BluetoothAddress, _ handle: ConnectionHandle = link) -> LEHost.Effect {
        .event(.connected(LEConnection(handle: handle, peer: peer, role: .central)))
    }

    /// A host with a pending connection to these peers.
    private func pending(_ peers: [BluetoothAddress], info: ControllerInfo = Bench.info) -> Bench {
        var bench = Bench(info: info)
        bench.given(.perform(.setAcceptList(peers)))
        for _ in peers.prefix(info.acceptListSize) { bench.given(.completed(.leAddDeviceToFilterAcceptList)) }
        bench.when(.status(.leCreateConnection), expect: .nothing)
        return bench
    }

    @Test("the accept list is filled, then a connection is created")
    func armed() {
        var bench = Bench()
        bench.when(
            .perform(.setAcceptList([kitchen, hall, kitchen])),
            expect: .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        // A pending connection has no time limit; every two minutes the controller is checked for silence.
        for _ in 0..<12 {
            bench.wait(.seconds(119))
            bench.wait(.seconds(1), expect: .command(.readBDADDR))
            bench.when(.completed(.readBDADDR, .success, [1, 2, 3, 4, 5, 6]), expect: .nothing)
        }
    }

    @Test("a connected peer is removed from the accept list, and added again when its link ends")
    func rearmed() {
        var bench = pending([kitchen, hall])
        bench.when(
            Self.connected(kitchen), expect: Self.event(kitchen), .command(.leRemoveDeviceFromFilterAcceptList(kitchen))
        )
        bench.when(.completed(.leRemoveDeviceFromFilterAcceptList), expect: .command(Self.create))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        bench.when(
            .event(.disconnectionComplete(.success, link, reason: .connectionTimeout)),
            expect: .event(
                .disconnected(LEConnection(handle: link, peer: kitchen, role: .central), reason: .connectionTimeout)),
            .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
    }

    @Test("with every peer connected no connection is created")
    func allConnected() {
        var bench = pending([kitchen])
        bench.when(Self.connected(kitchen), expect: Self.event(kitchen))
    }

    @Test("the same list of peers again changes nothing")
    func unchanged() {
        var bench = pending([kitchen, hall])
        bench.when(.perform(.setAcceptList([hall, kitchen])), expect: .nothing)
    }

    @Test("a change cancels the pending connection, also if the cancel is answered before its connection event")
    func cancelAnsweredFirst() {
        var bench = pending([kitchen])
        bench.when(.perform(.setAcceptList([hall])), expect: .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
        bench.when(
            .completed(.leRemoveDeviceFromFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
    }

    @Test("a change cancels the pending connection, also if the connection event comes before the answer")
    func completedFirst() {
        var bench = pending([kitchen])
        bench.when(.perform(.setAcceptList([hall])), expect: .command(.leCreateConnectionCancel))
        bench.when(Self.cancelled, expect: .nothing)
        bench.when(
            .completed(.leCreateConnectionCancel), expect: .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
    }

    @Test(
        "a peer that connects during a cancellation is connected, in both orders of the events",
        arguments: [true, false])
    func lostRace(isConnectedFirst: Bool) {
        var bench = pending([kitchen])
        bench.when(.perform(.setAcceptList([kitchen, hall])), expect: .command(.leCreateConnectionCancel))
        if isConnectedFirst {
            bench.when(Self.connected(kitchen), expect: Self.event(kitchen))
            bench.when(
                .completed(.leCreateConnectionCancel, .commandDisallowed),
                expect: .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
        } else {
            bench.when(.completed(.leCreateConnectionCancel, .commandDisallowed), expect: .nothing)
            bench.when(
                Self.connected(kitchen),
                expect: Self.event(kitchen), .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
        }
        bench.when(
            .completed(.leRemoveDeviceFromFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
    }

    @Test("a cancelled connection without a connection event is over after two seconds")
    func silentCancel() {
        var bench = pending([kitchen])
        bench.when(.perform(.setAcceptList([kitchen, hall])), expect: .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.wait(.milliseconds(1999))
        bench.wait(.milliseconds(1), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
    }

    @Test("changes during a change are made together")
    func changesMeanwhile() {
        var bench = pending([kitchen])
        bench.when(.perform(.setAcceptList([])), expect: .command(.leCreateConnectionCancel))
        bench.when(.perform(.setAcceptList([hall])), expect: .nothing)
        bench.when(.perform(.setAcceptList([kitchen])), expect: .nothing)
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(Self.create))
    }

    @Test("an empty list cancels the pending connection and creates none")
    func emptied() {
        var bench = pending([kitchen])
        bench.when(.perform(.setAcceptList([])), expect: .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .nothing)
    }

    @Test("a connection event may come before the status of its command")
    func connectedBeforeStatus() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen, hall])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
        bench.when(Self.connected(kitchen), expect: Self.event(kitchen))
        bench.when(.status(.leCreateConnection), expect: .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
    }

    @Test("a command is answered by command complete as well as by command status")
    func completeInsteadOfStatus() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.status(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
        bench.when(.completed(.leCreateConnection), expect: .nothing)
        bench.when(Self.connected(kitchen), expect: Self.event(kitchen))
    }

    @Test("an enhanced connection event is handled like the plain one")
    func enhanced() {
        var bench = pending([kitchen])
        let connection = LEConnection(handle: link, peer: kitchen, role: .central)
        bench.when(.event(.leEnhancedConnectionComplete(.up(connection))), expect: .event(.connected(connection)))
    }

    @Test("if the list is longer than the accept list, the first peers are in it")
    func tooLong() {
        var bench = Bench()
        let attic = BluetoothAddress(rawValue: 0x80E4_DA00_0003)
        bench.when(
            .perform(.setAcceptList([kitchen, attic, hall])),
            expect: .event(.acceptListShared(by: [hall, attic])), .command(.leAddDeviceToFilterAcceptList(kitchen)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(attic)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
        bench.when(.status(.leCreateConnection), expect: .nothing)
        bench.when(
            Self.connected(kitchen),
            expect: Self.event(kitchen), .event(.acceptListShared(by: [])),
            .command(.leRemoveDeviceFromFilterAcceptList(kitchen)))
        bench.when(
            .completed(.leRemoveDeviceFromFilterAcceptList), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
    }

    @Test("an accept list that is full before its reported size is used with its entries")
    func full() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen, hall])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(
            .completed(.leAddDeviceToFilterAcceptList, .memoryCapacityExceeded),
            expect: .event(.acceptListShared(by: [kitchen, hall])), .command(Self.create))
    }

    @Test("without an accept list the first peer is connected to by its address", arguments: [true, false])
    func direct(hasCommands: Bool) {
        var info = Bench.info
        info.acceptListSize = hasCommands ? 2 : 0
        var bench = Bench(info: info)
        let create = HCICommand.leCreateConnection(
            .init(
                scanInterval: 0x60, scanWindow: 0x60, peer: kitchen,
                connection: LEHost.Configuration().connectionParameters))
        if hasCommands {
            bench.when(.perform(.setAcceptList([kitchen])), expect: .command(.leAddDeviceToFilterAcceptList(kitchen)))
            bench.when(.status(.leAddDeviceToFilterAcceptList, .unknownCommand), expect: .command(create))
        } else {
            bench.when(.perform(.setAcceptList([kitchen])), expect: .command(create))
        }
    }

    @Test("a connection that fails at once is created again after waits that double")
    func pauses() {
        var bench = pending([kitchen])
        let failure = LEHost.Input.event(.leConnectionComplete(.failed(.failedToBeEstablished)))
        for milliseconds in [250, 500, 1000, 2000, 4000, 4000] as [Int64] {
            bench.when(failure, expect: .event(.connectionFailed(.failedToBeEstablished)))
            bench.wait(.milliseconds(milliseconds - 1))
            bench.wait(.milliseconds(1), expect: .command(Self.create))
            bench.when(.status(.leCreateConnection), expect: .nothing)
        }
    }

    @Test("a connection that fails after a long wait is created again at once, because the peer is there")
    func failedLate() {
        var bench = pending([kitchen])
        bench.wait(.seconds(60))
        bench.when(
            .event(.leConnectionComplete(.failed(.failedToBeEstablished))),
            expect: .event(.connectionFailed(.failedToBeEstablished)), .command(Self.create))
    }

    @Test("with the controller's links in use, the next connection waits for one to end")
    func linkLimit() {
        var bench = Bench()
        bench.connect(otherLink, hall)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
        bench.when(
            .status(.leCreateConnection, .connectionLimitExceeded),
            expect: .event(.linkLimitReached(links: 1)))
        bench.wait(.seconds(59))
        bench.when(
            .event(.disconnectionComplete(.success, otherLink, reason: .remoteUserTerminated)),
            expect: .event(
                .disconnected(
                    LEConnection(handle: otherLink, peer: hall, role: .central), reason: .remoteUserTerminated)),
            .command(Self.create))
    }

    @Test("a connection that another program left pending is cancelled")
    func leftOver() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.when(
            .status(.leCreateConnection, .commandDisallowed),
            expect: .event(.connectionFailed(.commandDisallowed)), .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .nothing)
        bench.wait(.milliseconds(250), expect: .command(Self.create))
    }

    @Test("a create command without answer is a controller failure")
    func wedged() {
        var bench = Bench()
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.given(.completed(.leAddDeviceToFilterAcceptList))
        bench.wait(.seconds(2), expect: .event(.failed(.noAnswer(.leCreateConnection))))
    }

    // MARK: Scanning at the same time

    private static let scan: [HCICommand] = [
        .leSetScanParameters(.init(isActive: false, interval: 0x60, window: 0x60)),
        .leSetScanEnable(true, filterDuplicates: false),
    ]

    @Test("a controller that can scan while it initiates scans while a connection is pending")
    func both() {
        var bench = pending([kitchen])
        bench.when(.perform(.startScanning(active: false)), expect: .command(Self.scan[0]))
        bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
        bench.when(.completed(.leSetScanEnable), expect: .nothing)
        bench.when(.perform(.stopScanning), expect: .command(.leSetScanEnable(false, filterDuplicates: false)))
        bench.when(.completed(.leSetScanEnable), expect: .nothing)
    }

    @Test("a controller that cannot scan while it initiates scans first, and connects again afterwards")
    func oneAtATime() {
        var bench = pending([kitchen])
        bench.when(.perform(.startScanning(active: false)), expect: .command(Self.scan[0]))
        bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
        bench.when(.completed(.leSetScanEnable, .commandDisallowed), expect: .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(Self.scan[0]))
        bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
        bench.when(.completed(.leSetScanEnable), expect: .nothing)
        bench.when(.perform(.setAcceptList([kitchen, hall])), expect: .nothing)
        bench.when(.perform(.stopScanning), expect: .command(.leSetScanEnable(false, filterDuplicates: false)))
        bench.when(.completed(.leSetScanEnable), expect: .command(.leAddDeviceToFilterAcceptList(hall)))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
    }

    @Test("a connection that is refused during scanning waits for the end of scanning")
    func refusedWhileScanning() {
        var bench = Bench()
        bench.given(.perform(.startScanning(active: false)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(.completed(.leSetScanEnable), expect: .nothing)
        bench.given(.perform(.setAcceptList([kitchen])))
        bench.when(.completed(.leAddDeviceToFilterAcceptList), expect: .command(Self.create))
        bench.when(.status(.leCreateConnection, .commandDisallowed), expect: .nothing)
        bench.when(.perform(.stopScanning), expect: .command(.leSetScanEnable(false, filterDuplicates: false)))
        bench.when(.completed(.leSetScanEnable), expect: .command(Self.create))
    }

    @Test("scanning that is refused twice is reported as failed, and the connection is created again")
    func scanningRefused() {
        var bench = pending([kitchen])
        bench.given(.perform(.startScanning(active: false)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(.completed(.leSetScanEnable, .commandDisallowed), expect: .command(.leCreateConnectionCancel))
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(Self.scan[0]))
        bench.when(.completed(.leSetScanParameters), expect: .command(Self.scan[1]))
        bench.when(
            .completed(.leSetScanEnable, .commandDisallowed),
            expect: .event(.scanningFailed(.commandDisallowed)), .command(Self.create))
    }

    @Test(
        "scanning that is stopped before it begins leaves the radio to the connection",
        arguments: [true, false])
    func wantedNoMore(stopsEarly: Bool) {
        var bench = pending([kitchen])
        bench.given(.perform(.startScanning(active: false)))
        bench.given(.completed(.leSetScanParameters))
        if stopsEarly { bench.when(.perform(.stopScanning), expect: .nothing) }
        bench.when(.completed(.leSetScanEnable, .commandDisallowed), expect: .command(.leCreateConnectionCancel))
        if !stopsEarly { bench.when(.perform(.stopScanning), expect: .nothing) }
        bench.when(.completed(.leCreateConnectionCancel), expect: .nothing)
        bench.when(Self.cancelled, expect: .command(Self.create))
    }

    @Test("scanning in another mode stops and starts again")
    func otherMode() {
        var bench = Bench()
        bench.given(.perform(.startScanning(active: false)))
        bench.given(.completed(.leSetScanParameters))
        bench.when(.perform(.startScanning(active: true)), expect: .nothing)
        bench.when(.completed(.leSetScanEnable), expect: .command(.leSetScanEnable(false, filterDuplicates: false)))
        bench.when(
            .completed(.leSetScanEnable),
            expect: .command(.leSetScanParameters(.init(isActive: true, interval: 0x60, window: 0x60))))
    }

    @Test("each report of an advertising event is an advertisement, and an RSSI of 127 is unknown")
    func reports() {
        var bench = Bench()
        let first = AdvertisingReport(kind: .connectable, address: kitchen, data: [2, 1, 6], rssi: -60)
        let second = AdvertisingReport(kind: .scanResponse, address: hall, data: [], rssi: nil)
        let event = HCIEvent.leAdvertisingReport([first, second])
        #expect(event.packet.last == 127)
        bench.when(.event(event), expect: .event(.advertised(first)), .event(.advertised(second)))
    }
}
