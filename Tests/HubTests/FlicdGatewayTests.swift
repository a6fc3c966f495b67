import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import Radios
import Testing

@testable import Hub

@Suite("The gateway to flicd's protocol")
struct FlicdGatewayTests {
    private static let now = Instant(sinceBoot: .seconds(5))
    private static let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))

    private static func gateway(listen: String? = "127.0.0.1:5551", sources: [String] = []) -> FlicdGateway {
        FlicdGateway(HubConfiguration(version: "0", sources: sources, flicdListen: listen))
    }

    @Test("inputs that arrive during a turn are handled in the next one")
    func turns() {
        var gateway = Self.gateway()
        let client = FlicdServer.ClientID(rawValue: 1)
        let begins = gateway.add(.clientConnected(client, peer: "127.0.0.1"))
        #expect(begins)
        let first = gateway.takeTurn(at: Self.now)
        #expect(first != nil && gateway.server?.clientCount == 1)
        let again = gateway.add(.clientGone(client))
        #expect(!again)
        let second = gateway.takeTurn(at: Self.now)
        let third = gateway.takeTurn(at: Self.now)
        #expect(second != nil && third == nil && gateway.server?.clientCount == 0 && gateway.problems().isEmpty)
    }

    @Test("a gateway without clients takes nothing for them")
    func notServing() {
        var gateway = Self.gateway(listen: nil)
        let begins = gateway.add(.timerFired)
        let failure = gateway.listeningFailed("x")
        #expect(!begins && failure == nil && gateway.isListening == nil && gateway.status["listening"] == false)
    }

    @Test("attempts to listen become rarer, and the same fault is reported once")
    func listening() {
        var gateway = Self.gateway()
        var delays: [Duration] = []
        var isNew: [Bool] = []
        for _ in 0..<3 {
            guard let failure = gateway.listeningFailed("it is taken.") else { break }
            delays.append(failure.delay)
            isNew.append(failure.isNew)
        }
        #expect(delays == [.seconds(1), .seconds(2), .seconds(4)] && isNew == [true, false, false])
        gateway.listens(at: "127.0.0.1:5551")
        #expect(gateway.serverFault == nil && gateway.isListening == true)
        let failure = gateway.listeningFailed("it is taken.")
        #expect(failure?.delay == .seconds(1) && failure?.isNew == true && gateway.isListening == false)
    }

    @Test("a lost flicd has no list of foreign buttons, and each reason is reported once")
    func lost() {
        var gateway = Self.gateway(sources: ["flicd://attic:5551"])
        let isNew = [gateway.leaveAlone(Self.button, of: 0), gateway.leaveAlone(Self.button, of: 0)]
        #expect(isNew == [true, false])
        let isTold = ["refused", "refused", "timed out"].map { reason in gateway.lost(0, reason) }
        #expect(isTold == [true, false, true] && gateway.upstreams[0].foreign.isEmpty)
        #expect(gateway.upstreamFaults == ["flicd://attic:5551: timed out"])
        #expect(gateway.index(of: "flicd://attic:5551") == 0 && !gateway.has("flicd://hall:5551"))
    }

    @Test("the log tells that a flicd works, or does not, and not each of its states")
    func controller() {
        var gateway = Self.gateway(sources: ["flicd://attic:5551"])
        let states: [FlicdControllerState?] = [.attached, .attached, .resetting, .detached, nil, .detached]
        var isLogged: [Bool] = []
        for state in states { isLogged.append(gateway.controllerChanged(of: 0, state)) }
        #expect(isLogged == [true, false, true, false, false, true])
    }

    @Test("each state of a link and of the adapter has its counterpart at flicd")
    func mappings() {
        let states: [(ButtonState, FlicdConnectionStatus)] = [
            (.disconnected, .disconnected), (.connecting, .disconnected), (.connected, .connected), (.ready, .ready),
        ]
        for (state, status) in states {
            #expect(FlicdServer.Input.linkState(state, of: Self.button) == .status(Self.button, status))
        }
        #expect(FlicdServer.Input.linkState(.disconnecting, of: Self.button) == nil)
        #expect(FlicdServer.Input.controller(.down(.failed, "x")) == .controller(.resetting, address: nil))
        #expect(FlicdServer.Input.controller(.down(.absent, "x")) == .controller(.detached, address: nil))
        #expect(FlicdServer.Input(.activity, of: Self.button, nil) == nil)
    }
}
