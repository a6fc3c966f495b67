import ButtonModel
import Bytes
import TestSupport
import Testing

@testable import Flic

@Suite("Commands to a session")
struct CommandTests {
    /// A session past init, with an answer to every request that section 6.5 names.
    private func settled(pendingNickname: Nickname? = nil) throws -> EstablishedTalk {
        var established = try #require(EstablishedTalk(pendingNickname: pendingNickname))
        _ = established.sent(established.initialise())
        _ = established.sent(established.receive(.getBatteryLevelResponse(raw: 860)))
        let name = ButtonPacket.StampedName(timestamp: 5, name: Array("Hall".utf8))
        let answer = pendingNickname == nil ? ButtonPacket.getNameResponse(name) : .setNameResponse(name)
        _ = established.sent(established.receive(answer))
        _ = established.sent(established.receive(.getFirmwareVersionResponse(version: 11)))
        return established
    }

    @Test("each command is sent as its packet")
    func packets() throws {
        var established = try settled()
        let pattern = LEDPattern(colour: 2, brightness: 1000, pulseOn: 1, pulseOff: 2, periods: 3)
        let expected: [(ButtonSession.Command, HostPacket)] = [
            (.setLatencyMode(.low), .setConnectionParameters(LatencyMode.low.connectionParameters)),
            (.setAutoDisconnectTime(60), .setAutoDisconnectTime(seconds: 60)),
            (.setAutoDisconnectTime(1), .setAutoDisconnectTime(seconds: 40)),
            (.setAutoDisconnectTime(.max), .setAutoDisconnectTime(seconds: 510)),
            (.setAutoDisconnectTime(nil), .setAutoDisconnectTime(seconds: 511)),
            (.executeLEDPattern(pattern), .executeLEDPattern(pattern)), (.abortLEDPattern, .abortLEDPattern),
            (.factoryReset, .factoryResetRequest),
            (
                .setNickname(Nickname("Attic", chosenAt: 9)),
                .setNameRequest(.init(timestamp: 9, isForced: true, name: Array("Attic".utf8)))
            ),
            (.disconnect(advertiseAgain: true), .forceDisconnect(advertiseAgain: true)),
        ]
        for (command, packet) in expected {
            #expect(established.sent(established.talk.given(.perform(command))) == [packet])
        }
    }

    @Test("commands before the session is ready are sent after init, the last one of each kind")
    func early() throws {
        var established = try #require(EstablishedTalk())
        let first = LEDPattern(colour: 0, brightness: 1, pulseOn: 1, pulseOff: 1, periods: 1)
        for command in [
            .setLatencyMode(.high), .setLatencyMode(.low), .setAutoDisconnectTime(100), .setAutoDisconnectTime(60),
            .executeLEDPattern(first), .abortLEDPattern, .setNickname(Nickname("Hall", chosenAt: 1)),
            .setNickname(Nickname("Attic", chosenAt: 2)), .factoryReset, .factoryReset,
        ] as [ButtonSession.Command] {
            #expect(established.talk.given(.perform(command)) == [])
        }
        #expect(
            established.sent(established.initialise()) == [
                .setConnectionParameters(LatencyMode.low.connectionParameters), .setAutoDisconnectTime(seconds: 60),
                .abortLEDPattern, .getBatteryLevelRequest,
                .setNameRequest(.init(timestamp: 2, isForced: true, name: Array("Attic".utf8))),
            ])
        #expect(
            established.sent(established.receive(.getBatteryLevelResponse(raw: 860))) == [.getFirmwareVersionRequest])
        #expect(
            established.sent(established.receive(.setNameResponse(.init(timestamp: 2, name: Array("Attic".utf8)))))
                == [.factoryResetRequest])
    }

    @Test("a command that was sent is not repeated in the next session on the same link")
    func once() throws {
        var established = try #require(EstablishedTalk())
        established.talk.given(.perform(.abortLEDPattern))
        established.talk.given(.perform(.factoryReset))
        _ = established.sent(established.initialise())
        established.receive(.disconnectedVerifiedLink(reason: 0))
        try established.startAgain(after: .seconds(1))
        var sent = established.sent(established.initialise())
        for answer in [
            .getBatteryLevelResponse(raw: 1), .getNameResponse(.init(timestamp: 1, name: [])),
            .getFirmwareVersionResponse(version: 11),
        ] as [ButtonPacket] {
            sent += established.sent(established.receive(answer))
        }
        #expect(sent.compactMap { $0?.opcode } == [12, 20, 11, 8])
    }

    @Test("a pending name is sent without force, and the button's answer is the name")
    func pendingName() throws {
        var established = try #require(EstablishedTalk(pendingNickname: Nickname("Old", chosenAt: 3)))
        let sent = established.sent(established.initialise())
        #expect(sent.last == .setNameRequest(.init(timestamp: 3, isForced: false, name: Array("Old".utf8))))
        let effects = established.receive(.setNameResponse(.init(timestamp: 8, name: Array("Newer".utf8))))
        #expect(effects.first == .nickname("Newer"))
    }

    @Test("a name chosen while another is being sent follows it, and only the last is reported")
    func nameDuringName() throws {
        var established = try settled()
        _ = established.sent(established.talk.given(.perform(.setNickname(Nickname("One", chosenAt: 1)))))
        #expect(established.talk.given(.perform(.setNickname(Nickname("Two", chosenAt: 2)))) == [])
        #expect(established.talk.given(.perform(.setNickname(Nickname("Three", chosenAt: 3)))) == [])
        #expect(
            established.receive(.nameUpdatedNotification(name: Array("Elsewhere".utf8))) == [
                .ignored(reason: "a name from another host while a new name is being sent")
            ])
        var effects = established.receive(.setNameResponse(.init(timestamp: 1, name: Array("One".utf8))))
        #expect(!effects.contains(.nickname("One")))
        #expect(
            established.sent(effects) == [
                .setNameRequest(.init(timestamp: 3, isForced: true, name: Array("Three".utf8)))
            ])
        effects = established.receive(.setNameResponse(.init(timestamp: 3, name: Array("Three".utf8))))
        #expect(effects.first == .nickname("Three"))
        #expect(established.receive(.nameUpdatedNotification(name: Array("Four".utf8))) == [.nickname("Four")])
    }

    @Test("a name whose request was unanswered when the session ended is sent again in the next session on the link")
    func nameAcrossSessions() throws {
        var established = try settled()
        _ = established.sent(established.talk.given(.perform(.setNickname(Nickname("Attic", chosenAt: 7)))))
        established.receive(.disconnectedVerifiedLink(reason: 0))
        try established.startAgain(after: .seconds(1))
        let sent = established.sent(established.initialise())
        #expect(sent.contains(.setNameRequest(.init(timestamp: 7, isForced: true, name: Array("Attic".utf8)))))
    }

    @Test("an answer to another name request than the one sent is ignored")
    func unexpectedName() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise()
        let stamped = ButtonPacket.StampedName(timestamp: 1, name: [])
        #expect(established.receive(.setNameResponse(stamped)) == [.ignored(reason: "an unexpected response")])
    }

    @Test("a request without answer for 15 seconds is reported, the next are sent, and a late answer is ignored")
    func unanswered() throws {
        var established = try #require(EstablishedTalk())
        _ = established.sent(established.initialise())
        established.talk.wait(.milliseconds(14_999))
        #expect(established.talk.given(.timerFired) == [])
        established.talk.wait(.milliseconds(1))
        let effects = established.talk.given(.timerFired)
        #expect(
            Array(effects.prefix(2)) == [.unanswered("GetBatteryLevelRequest"), .unanswered("GetNameRequest")])
        #expect(established.sent(effects) == [.getFirmwareVersionRequest])
        for late in [.getBatteryLevelResponse(raw: 860), .getNameResponse(.init(timestamp: 0, name: []))]
            as [ButtonPacket]
        {
            #expect(established.receive(late) == [.ignored(reason: "an unexpected response")])
        }
        #expect(
            established.receive(.getFirmwareVersionResponse(version: 11)).first == .firmware(version: 11))
    }

    @Test(
        "a request without answer is reported by its name",
        arguments: [
            (.setNickname(Nickname("Hall", chosenAt: 1)), "SetNameRequest", 15),
            (.factoryReset, "FactoryResetRequest", 15),
        ] as [(ButtonSession.Command, String, Int)])
    func unanswered(command: ButtonSession.Command, name: String, seconds: Int) throws {
        var established = try settled()
        established.talk.given(.perform(command))
        established.talk.wait(.seconds(seconds))
        #expect(established.talk.given(.timerFired).first == .unanswered(name))
    }

    @Test("after a factory reset the button is disconnected")
    func factoryReset() throws {
        var established = try settled()
        established.talk.given(.perform(.factoryReset))
        #expect(established.receive(.factoryResetResponse) == [.factoryReset, .disconnect, .cancelTimer])
    }

    @Test("after the disconnect command, packets of the button are handled and no more requests are sent")
    func departure() throws {
        var established = try settled()
        #expect(
            established.sent(established.talk.given(.perform(.disconnect(advertiseAgain: false)))) == [
                .forceDisconnect(advertiseAgain: false)
            ])
        #expect(established.talk.given(.perform(.disconnect(advertiseAgain: true))) == [])
        #expect(established.sent(established.talk.given(.perform(.factoryReset))) == [])
        guard case .events(let events, _, true)? = established.receive(11, 1, 10).first else {
            Issue.record("no events")
            return
        }
        #expect(events.map(\.counter) == [9, 11])
        established.talk.wait(.seconds(15))
        #expect(established.talk.given(.timerFired) == [.disconnect])
    }

    @Test("a disconnect command before the session is ready is sent before any other request")
    func earlyDeparture() throws {
        var established = try #require(EstablishedTalk())
        #expect(established.talk.given(.perform(.disconnect(advertiseAgain: true))) == [])
        #expect(established.sent(established.initialise()) == [.forceDisconnect(advertiseAgain: true)])
    }

    @Test("after a lost link commands do nothing, and a firmware update fails")
    func closed() throws {
        var established = try settled()
        established.talk.given(.linkLost)
        let image = try FirmwareImage(FlicPeripheral.firmware(wordCount: 4))
        established.talk.given(.perform(.setNickname(Nickname("Hall", chosenAt: 1))))
        established.talk.given(.perform(.disconnect(advertiseAgain: true)))
        established.talk.when(.perform(.updateFirmware(image)), expect: .firmwareUpdate(.failed(.interrupted)))
    }
}
