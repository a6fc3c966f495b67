import JSON
import Testing

@testable import CommandSupport
@testable import CommandText

@Suite("Lines of the live stream")
struct StreamTextTests {
    @Test("down, up and the messages of Tryck itself are details, and messages of rules are not")
    func details() throws {
        for (line, isDetail) in [
            (#"{"kind":"event","event":"down"}"#, true), (#"{"kind":"event","event":"click"}"#, false),
            (#"{"kind":"publish","topic":"tryck/80e4da000001/action"}"#, true),
            (#"{"kind":"publish","topic":"lamp/set","rule":"one","run":7}"#, false),
            (#"{"kind":"rule","outcome":"started"}"#, false), (#"{"kind":"new"}"#, false),
        ] { #expect(StreamText.isDetail(try JSONValue(parsing: line)) == isDetail, "\(line)") }
    }

    @Test("the lines of a button are its own and those of the runs that it has started")
    func ofButton() throws {
        var lines = ButtonLines(of: "kitchen")
        for (line, isContained) in [
            (#"{"kind":"event","button":"kitchen","id":"1","event":"click"}"#, true),
            (#"{"kind":"event","button":"hall","id":"2","event":"click"}"#, false),
            (#"{"kind":"rule","button":"kitchen","run":7,"outcome":"started"}"#, true),
            (#"{"kind":"rule","button":"hall","run":8,"outcome":"started"}"#, false),
            (#"{"kind":"publish","topic":"lamp","run":7}"#, true), (#"{"kind":"mqtt","topic":"lamp","run":8}"#, false),
            (#"{"kind":"rule","run":7,"outcome":"completed"}"#, true),
            (#"{"kind":"broker","state":"connected"}"#, false),
        ] { #expect(lines.contains(try JSONValue(parsing: line)) == isContained, "\(line)") }
    }

    @Test(
        "each kind of line is one sentence",
        arguments: [
            (#"{"kind":"event","button":"kitchen","event":"click"}"#, "event    kitchen  click"),
            (
                #"{"kind":"event","button":"hall","event":"hold","queued":true,"age_ms":2190}"#,
                "event    hall  hold  stored by the button, 2.1 s old"
            ),
            (
                #"{"kind":"rule","rule":"evening","button":"hall","event":"hold","outcome":"started","run":4}"#,
                "rule     evening  runs: hall hold"
            ),
            (
                #"{"kind":"rule","rule":"evening","button":null,"event":"at","outcome":"started","run":4}"#,
                "rule     evening  runs: its time has come"
            ),
            (
                #"{"kind":"rule","rule":"evening","button":null,"event":"state","outcome":"started","run":4}"#,
                "rule     evening  runs: a state has changed"
            ),
            (
                #"{"kind":"rule","rule":"r","button":null,"event":"state","outcome":"started","state":"mode","old":"day","new":"away"}"#,
                "rule     r  runs: mode from day to away"
            ),
            (
                #"{"kind":"rule","rule":"r","button":null,"event":"state","outcome":"started","state":"mode","old":"","new":"away"}"#,
                "rule     r  runs: mode became away"
            ),
            (#"{"kind":"rule","rule":"evening","outcome":"cancelled","run":4}"#, "rule     evening  was cancelled"),
            (#"{"kind":"rule","rule":"evening","outcome":"completed","run":4}"#, "rule     evening  done"),
            (#"{"kind":"rule","rule":"evening","outcome":"failed","run":4}"#, "rule     evening  failed"),
            (
                #"{"kind":"rule","rule":"evening","outcome":"step_failed","step":"actions[1].run","code":"R822","reason":"exit status 1"}"#,
                "rule     evening  actions[1].run failed: exit status 1 (R822)"
            ),
            (
                #"{"kind":"rule","rule":"evening","button":"hall","event":"hold","outcome":"dropped_busy"}"#,
                "rule     evening  did not run: another run is not finished (dropped_busy)"
            ),
            (
                #"{"kind":"rule","rule":"evening","outcome":"dropped_busy","reason":"this engine does not lead"}"#,
                "rule     evening  did not run: this engine does not lead (dropped_busy)"
            ),
            (
                #"{"kind":"rule","rule":"evening","outcome":"dropped_someday"}"#,
                "rule     evening  did not run (dropped_someday)"
            ),
            (#"{"kind":"publish","topic":"a/b","payload":"{\"x\":1}"}"#, #"mqtt     a/b {"x":1}"#),
            (#"{"kind":"publish","topic":"a","payload":"on","retain":true}"#, "mqtt     a on (retained)"),
            (
                #"{"kind":"state_fault","state":"lux","code":"R830","message":"\"x\" on lux is no integer"}"#,
                #"state    lux  "x" on lux is no integer (R830)"#
            ),
            (#"{"kind":"log","rule":"evening","level":"info","message":"hi"}"#, "log      evening  hi"),
            (#"{"kind":"button","button":"hall","state":"ready"}"#, "button   hall  ready"),
            (#"{"kind":"button","button":"hall","state":"removed"}"#, "button   hall  removed"),
            (
                #"{"kind":"button","button":"hall","state":"unpaired"}"#,
                "button   hall  unpaired: the button was reset or has deleted the pairing; pair it again"
            ),
            (
                #"{"kind":"http","rule":"door","method":"POST","url":"https://x.example/a","status":200,"duration_ms":12.5}"#,
                "web      POST https://x.example/a  200, 12.5 ms"
            ),
            (
                #"{"kind":"http","rule":"door","method":"GET","url":"https://x.example/","reason":"no such host"}"#,
                "web      GET https://x.example/  no such host"
            ),
            (#"{"kind":"variable","variable":"guests","value":true}"#, "variable guests = true"),
            (
                #"{"kind":"rules","state":"ok","rules":3,"problems":[]}"#, "rules    3 rules loaded"
            ),
            (
                #"{"kind":"rules","state":"error","rules":3,"problems":[{"severity":"error","file":"a.yaml","line":2,"column":3,"message":"unknown button"}]}"#,
                "rules    the old rules stay in use: a.yaml:2:3: unknown button"
            ),
            (
                #"{"kind":"adapter","state":"powered_on","address":"00:11:22:33:44:55"}"#,
                "adapter  powered on  00:11:22:33:44:55"
            ),
            (
                #"{"kind":"broker","state":"disconnected","reason":"refused"}"#, "broker   disconnected  refused"
            ),
            (
                #"{"kind":"source","url":"flicd://attic:5551","connected":true,"adapter":"powered_on"}"#,
                "source   flicd://attic:5551  connected"
            ),
            (
                #"{"kind":"source","url":"flicd://attic:5551","connected":true,"adapter":"powered_off"}"#,
                "source   flicd://attic:5551  connected, and its adapter is powered off"
            ),
            (
                #"{"kind":"source","url":"flicd://attic:5551","connected":false,"reason":"it closed the connection"}"#,
                "source   flicd://attic:5551  lost: it closed the connection"
            ),
            (
                #"{"kind":"pairing","step":"found_public","address":"00:11:22:33:44:55"}"#,
                "pairing  Found 00:11:22:33:44:55."
            ),
        ])
    func sentence(json: String, expected: String) throws {
        #expect(try text(json) == [expected])
    }

    @Test("a program's line is followed by what it said")
    func process() throws {
        let json = """
            {"kind":"process","rule":"r","command":["date","+%H:%M"],"status":2,"stdout":"13:02\\n\\nx","stderr":"oh\\n",\
            "duration_ms":1.25}
            """
        #expect(
            try text(json) == [
                "program  date +%H:%M  exit 2, 1.25 ms", "         │ 13:02", "         │ ", "         │ x",
                "         │ oh",
            ])
    }

    @Test("of a long output the beginning is shown, and how much is left out")
    func longOutput() throws {
        let output = (1...20).map { "\($0)\\n" }.joined()
        let lines = try text(#"{"kind":"process","command":["seq"],"status":0,"stdout":"\#(output)"}"#)
        #expect(lines.count == 2 + StreamText.maximumOutputLines)
        #expect(lines.last == "         │ and 8 more lines")
    }

    @Test("kinds and words of a newer daemon are passed over", arguments: [#"{"kind":"moon"}"#, "{}", "[]", "null"])
    func unknown(json: String) throws {
        #expect(try text(json) == [])
    }

    private func text(_ json: String) throws -> [String] {
        StreamText.lines(try JSONValue(parsing: json), style: .plain).map { $0.rendered(.plain) }
    }
}
