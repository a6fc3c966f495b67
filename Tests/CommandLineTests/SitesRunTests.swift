import ButtonModel
import CommandText
import ConfigurationLoader
import JSON
import RuleLoader
import Simulator
import TestSupport
import Testing
import YAMLFiles

@testable import CommandSupport
@testable import DemoCommands
@testable import Platform

extension SitesRun: StateMachine {}

@Suite("The course of the demo of sites and engines")
struct SitesRunTests {
    typealias Talk = Transcript<SitesRun>

    private static func state(_ engine: String, isOnline: Bool = true) -> SitesRun.Input {
        .delivered(
            topicName: "engines/1/state",
            payload: #"{"state":"\#(isOnline ? "online" : "offline")","engine":"\#(engine)"}"#)
    }

    private static func lamp(_ site: Int) -> SitesRun.Input {
        .delivered(topicName: "lamp/\(SitesRun.address(ofSite: site))", payload: "toggle")
    }

    private static let ready: JSONValue = ["kind": "button", "id": "1", "state": "ready"]

    /// The texts that are shown, and the other effects in words.
    private static func words(_ effects: [SitesRun.Effect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .send(let member, let request): "\(member.name) \(request.text("request"))"
            case .kill(let member): "kill \(member.name)"
            case .start(let member): "start \(member.name)"
            case .show(let text): text
            case .setTimer: nil
            case .finish: "finish"
            case .fail(let failure): failure.sentence
            }
        }
    }

    /// Two sites whose buttons are paired, and an engine that leads.
    private static func paired() -> Talk {
        var talk = Talk(SitesRun(siteCount: 2))
        #expect(words(talk.given(.connected(.engine(0)))) == [])
        for site in 0...1 {
            #expect(
                words(talk.given(.connected(.site(site)))) == ["site\(site + 1) watch", "site\(site + 1) permit_join"])
            #expect(
                words(talk.given(.received(.site(site), ready))) == ["site\(site + 1) has paired its button"])
        }
        #expect(words(talk.given(state("a1"))) == ["a1 leads, and the others stand by"])
        return talk
    }

    private static func tick(_ talk: inout Talk) -> [String] {
        talk.wait(.milliseconds(700))
        return words(talk.given(.timerFired))
    }

    @Test("presses come from the sites in turn; the leader is killed, and another one leads while they go on")
    func course() {
        var talk = Self.paired()
        for press in 0..<6 {
            #expect(Self.tick(&talk) == ["site\(press % 2 + 1) simulator/press"])
            talk.wait(.milliseconds(4))
            #expect(
                Self.words(talk.given(Self.lamp(press % 2)))
                    == ["site\(press % 2 + 1): pressed, and a1 switched the lamp after 4 ms"])
        }
        #expect(
            Self.tick(&talk) == ["kill a1", "a1, which leads, is killed; presses go on", "site1 simulator/press"])
        // The dead engine's last words, and its will.
        #expect(Self.words(talk.given(Self.state("a1"))) == [])
        #expect(Self.words(talk.given(Self.state("a1", isOnline: false))) == [])
        #expect(Self.tick(&talk) == ["site2 simulator/press"])
        talk.wait(.milliseconds(400))
        #expect(Self.words(talk.given(Self.state("a2"))) == ["a2 leads 1.1 s after a1 was killed"])
        #expect(
            Self.words(talk.given(Self.lamp(0))) == ["site1: pressed, and a2 switched the lamp after 1.1 s"])
        _ = talk.given(Self.lamp(1))
        #expect(
            Self.tick(&talk)
                == ["start a1", "a1 is started again, and stands by", "site1 simulator/press"])
        _ = talk.given(Self.lamp(0))
        for press in 1..<6 {
            _ = Self.tick(&talk)
            _ = talk.given(Self.lamp(press % 2))
        }
        #expect(
            Self.tick(&talk) == [
                "14 presses at 2 sites: each switched its lamp once, the slowest after 1.1 s", "finish",
            ])
    }

    @Test("a site whose adapter was not ready is asked again to pair its button")
    func again() {
        var talk = Talk(SitesRun(siteCount: 1))
        _ = talk.given(.connected(.site(0)))
        #expect(Self.tick(&talk) == ["site1 permit_join"])
        _ = talk.given(.received(.site(0), Self.ready))
        #expect(Self.tick(&talk) == [])
    }

    @Test("a lamp that is switched twice is a failure")
    func twice() {
        var talk = Self.paired()
        _ = Self.tick(&talk)
        _ = talk.given(Self.lamp(0))
        #expect(Self.words(talk.given(Self.lamp(0))) == ["site1: the lamp was switched once more"])
    }

    @Test("it says what it waits for")
    func waits() {
        var talk = Talk(SitesRun(siteCount: 2))
        _ = talk.given(.connected(.site(0)))
        talk.wait(.seconds(30))
        #expect(
            Self.words(talk.given(.timerFired)) == [
                "Nothing happened for 30 s; still waiting for the sites to pair their buttons. Please report this."
            ])
        talk = Self.paired()
        _ = Self.tick(&talk)
        talk.wait(.seconds(30))
        #expect(
            Self.words(talk.given(.timerFired)) == [
                "Nothing happened for 30 s; still waiting for the lamps of 1 presses. Please report this."
            ])
    }

    @Test("the daemons' files are without mistakes")
    func files() {
        for member in [SitesRun.Member.site(0), .engine(1)] {
            for (name, text) in SitesFiles.files(of: member, broker: "unix:/tmp/b.sock", in: "/tmp/x/") {
                let file = SourceFile(name: name, text: Array(text.utf8))
                switch name {
                case "tryck.yaml": #expect(FileLoader.configuration(file, in: FileInputs()).diagnostics.isEmpty)
                case "rules.yaml": #expect(FileLoader.rules(file, in: LoadInputs()).diagnostics.isEmpty)
                default: break
                }
            }
        }
    }
}
