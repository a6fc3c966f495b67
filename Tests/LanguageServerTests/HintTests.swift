import Diagnostics
import Foundation
import JSON
import RuleLoader
import Testing

/// The hints of the loader's files with mistakes: each that is a change of the text has a quick fix.
@Suite("Hints and quick fixes")
struct HintTests {
    /// The hints of a file's diagnostics that have no quick fix, and the number of those that have one.
    private static func hints(_ editor: inout Editor, _ path: String) -> (without: Set<String>, fixed: Int) {
        var without: Set<String> = []
        var fixed = 0
        for diagnostic in editor.diagnostics[Editor.uri(path)]?["diagnostics"]?.arrayValue ?? [] {
            // Without the capability of related information, the hint is the second line of the message.
            let lines = diagnostic["message"]?.stringValue?.split(separator: "\n", maxSplits: 1) ?? []
            guard lines.count == 2 else { continue }
            let hint = String(lines[1])
            let actions = editor.request(
                "textDocument/codeAction",
                [
                    "textDocument": ["uri": .string(Editor.uri(path))], "range": diagnostic["range"] ?? .null,
                    "context": ["only": ["quickfix"], "diagnostics": [diagnostic]],
                ])["result"]?.arrayValue
            let fixes = actions?.filter { $0["diagnostics"]?.arrayValue?.contains(diagnostic) ?? false } ?? []
            if fixes.isEmpty { without.insert(hint) } else { fixed += 1 }
            #expect(fixes.count { $0["isPreferred"] == true } == (fixes.count == 1 ? 1 : 0), "\(hint)")
            for fix in fixes { expect(fix, removes: diagnostic, from: editor, path) }
        }
        return (without, fixed)
    }

    /// Carries out a quick fix in a copy of the editor.
    private static func expect(
        _ fix: JSONValue, removes diagnostic: JSONValue, from editor: Editor, _ path: String
    ) {
        let uri = Editor.uri(path)
        let edits = fix["edit"]?["changes"]?[uri]?.arrayValue ?? []
        let title = fix["title"]?.stringValue ?? ""
        guard edits.count == 1 else {
            Issue.record("\(title) has \(edits.count) edits")
            return
        }
        var after = editor
        after.change(
            path, version: 2, ["range": edits[0]["range"] ?? .null, "text": edits[0]["newText"] ?? .null])
        after.wait(.seconds(1))
        let left = after.diagnostics[uri]?["diagnostics"]?.arrayValue ?? []
        let isLeft = left.contains {
            $0["code"] == diagnostic["code"] && $0["range"]?["start"] == diagnostic["range"]?["start"]
        }
        #expect(!isLeft, "\(path): \(title) leaves \(diagnostic)")
        let before = editor.diagnostics[uri]?["diagnostics"]?.arrayValue ?? []
        #expect(
            emptyKeys(left, above: diagnostic).isSubset(of: emptyKeys(before, above: diagnostic)),
            "\(path): \(title) leaves a key without a value")
        let new = Self.new(left, besides: before)
        expect(edits[0], makes: new, insteadOf: diagnostic, "\(path): \(title)")
    }

    /// The places of keys and entries without a value in the lines above a mistake, and before it in its line.
    private static func emptyKeys(_ diagnostics: [JSONValue], above diagnostic: JSONValue) -> Set<[Int64]> {
        func place(_ diagnostic: JSONValue) -> [Int64] {
            let start = diagnostic["range"]?["start"]
            return [start?["line"]?.integerValue ?? 0, start?["character"]?.integerValue ?? 0]
        }
        return Set(
            diagnostics.filter { $0["code"] == "E114" }.map(place).filter {
                $0.lexicographicallyPrecedes(place(diagnostic))
            })
    }

    /// The problems that are reported only after a fix. Whether a program can be found (W702) is not known when it is offered.
    private static func new(_ after: [JSONValue], besides before: [JSONValue]) -> [JSONValue] {
        // Places in messages move when a line is added.
        func sentence(_ diagnostic: JSONValue) -> String {
            "\(diagnostic["code"] ?? "") \(diagnostic["message"] ?? "")".filter { !$0.isNumber }
        }
        let known = Set(before.map(sentence))
        return after.filter { $0["code"] != "W702" && !known.contains(sentence($0)) }
    }

    /// A fix makes no mistake of YAML, no problem in the text that it writes, and no error in place of a warning. What the mistake
    /// has hidden elsewhere is not new: the value of a misspelled key, or the whole file if it was no YAML.
    private static func expect(
        _ edit: JSONValue, makes new: [JSONValue], insteadOf diagnostic: JSONValue, _ title: String
    ) {
        func isOfYAML(_ diagnostic: JSONValue) -> Bool { diagnostic["code"]?.stringValue?.hasPrefix("E1") ?? false }
        if diagnostic["severity"] != 1 {
            #expect(!new.contains { $0["severity"] == 1 }, "\(title) makes \(new)")
        }
        guard !isOfYAML(diagnostic) else { return }
        #expect(!new.contains(where: isOfYAML), "\(title) makes \(new)")
        // Most fixes write in one line, so the place of their text is known without counting lines.
        guard let line = edit["range"]?["start"]?["line"]?.integerValue,
            let start = edit["range"]?["start"]?["character"]?.integerValue,
            let text = edit["newText"]?.stringValue, !text.contains("\n")
        else { return }
        let written = start..<start + Int64(text.utf16.count)
        let isInText = new.contains { problem in
            // A key that is missing (E202) is reported at the first key of its mapping.
            guard problem["code"] != "E202", let from = problem["range"]?["start"], let to = problem["range"]?["end"],
                from["line"] == .integer(line)
            else { return false }
            let end = to["line"] == .integer(line) ? to["character"]?.integerValue ?? 0 : Int64.max
            return (from["character"]?.integerValue ?? 0) < written.upperBound && end > written.lowerBound
        }
        #expect(!isInText, "\(title) makes \(new)")
    }

    @Test(
        "each hint of a file with mistakes that is a change has a quick fix, which removes the mistake and makes no other"
    )
    func files() throws {
        var without: Set<String> = []
        var fixed = 0
        for name in GoldenTests.files {
            guard var editor = try GoldenTests.editor(opening: name) else { continue }
            let found = Self.hints(&editor, GoldenTests.path(of: name))
            without.formUnion(found.without)
            fixed += found.fixed
        }
        for name in GoldenTests.sets {
            var (editor, entry) = try GoldenTests.editor(openingSet: name)
            let found = Self.hints(&editor, entry)
            without.formUnion(found.without)
            fixed += found.fixed
        }
        #expect(without.subtracting(Self.others).sorted() == [])
        #expect(Self.others.subtracting(without).sorted() == [])
        #expect(fixed > 140)
    }

    /// The hints that are no change of the text, or one that depends on more than the text at that place.
    private static let others: Set<String> = [
        // What to add or to write depends on what the user wants: a name, a time or another value.
        "a name has at most 64 of a-z, 0-9 and _, and begins with a letter",
        "add actions: to it",
        "add after: 22:00 to it",
        "declare it: buttons: {bath: SERIAL}; tryck buttons shows the serial numbers",
        "add at: to it",
        "add button: to it",
        "add count: to it",
        "add event: to it",
        "add event:, advance:, expect: or another",
        "add every: to it",
        "add id: to it",
        "add initial: to it",
        "add latitude: and longitude:, or timezone: to it",
        "add longitude: to it",
        "add max_age: to it",
        "add message: to it",
        "add name: and one word, such as attic",
        "add name: to it",
        "add publish:, run:, shell: or another action",
        "add publish:, run:, shell:, http: or log:",
        "add state: to it",
        "add steps: to it",
        "add then: to it",
        "add time: to it",
        "add timeout: to it",
        "add topic: to it",
        "add type: to it",
        "add url: to it",
        "add while: to it",
        "add whom: to it",
        "add with: {whom: …}",
        "copy it from api: encryption: key: of its ESPHome configuration",
        "declare it under states:",
        "give one of them another name",
        "it looks like 80:E4:DA:01:02:03",
        "it looks like BF12-C34567, in capital letters",
        "leave both out for the whole day",
        "leave out one of them, or give them different values",
        "name a broker in tryck.yaml",
        "name each button of the chord",
        "name one of its buttons",
        "name the buttons it is meant for",
        "pass the value with args: or env: and write \"$1\" or \"$NAME\"",
        "prefer serial or uuid",
        "put all of it between one pair of braces",
        "remove the key or give it one",
        "write 10s, 500ms or 1h30m",
        "write 2026-01-15 12:00",
        "write [one, two]",
        "write [short, short, long]",
        "write a name such as Europe/Amsterdam",
        "write a number and a time: 20/1m",
        "write a step for each",
        "write an expression such as states.NAME < 20",
        "write an expression such as states.NAME == 'ON'",
        "write an expression such as states.hell < 20",
        "write an expression such as states.lux < 20",
        "write an expression such as states.offen",
        "write an expression such as states.tuer == 'ON'",
        "write auto, hci:0, hci:ADDRESS, bluez, bluez:0, bluez:ADDRESS, h4:tcp:HOST:PORT, h4:unix:PATH, simulated:FILE, none or {command: […]}",
        "write a time from 00:00 to 23:59:59, or a day and a time: 2026-01-15 12:00",
        "write a time such as 21:30, because a test sets the clock itself",
        "write a timeout above 10m",
        "write a timeout above 1m",
        "write env: {NAME: value}",
        "write expect_rules: {one: completed}",
        "write expect_variables: {name: value}",
        "write it as one expression: a or b, with in_time(…) for a time window",
        "write its 32 hexadecimal digits",
        "write key: !secret NAME",
        "write key: value",
        "write kitchen: BF12-C34567",
        "write mqtt://HOST:PORT, mqtts://HOST:PORT, unix:PATH, embedded or none",
        "write name: {type: string}",
        "write open: {home/window/a: …}",
        "write publish: {…}, run: […], shell: …, http: {…} or log: …",
        "write random(a, b)",
        "write run: [sudo, -n, -u, NAME, --, …] and allow exactly that in sudoers",
        "write set: {name: value}",
        "write states.NAME",
        "write states.NAME == 'y'",
        "write the value that is expected",
        "write variables.NAME",
        "write {initial: …, values: […]}",
        // In one of the files, the change would make another mistake: a key that is there twice, or a value that is not allowed.
        "for runs one after another write mode: queued",
        "put it in quotes: \"3\"",
        "quote it, or write it with decimal digits only",
        "remove this ---",
        "use actions:",
        "use rules:",
        "write \"off\" in quotes, or false",
        "write at:",
        "write it inside wait, beside until:",
        "write not",
        "write offset: -30m",
        "write states.hell",
        "write states.hell < 20",
        "write states.tuer",
        "write timeout: beside wait_for:, not in the trigger",
        "write trigger.new, or 'new' for text",
        // The mistake is in the place of a key, a step or a list, and what belongs to it moves along.
        "\"claim\" belongs beside \"wait_for\"",
        "\"delay\" is a step; write it under actions:",
        "\"retain\" belongs inside \"publish\"",
        "\"then\" belongs beside \"wait_for\" or \"if\"",
        "\"timeout\" belongs beside \"run\"",
        "\"topic\" belongs inside \"publish\"",
        "\"with\" belongs beside \"script\"",
        "a key of the file begins in column 1",
        "all conditions of a list must be true; inside an expression write a and b",
        "all entries of \"conditions\" must be true; for alternatives write a or b",
        "begin each rule with - id:",
        "begin with the lines \"version: 1\", \"rules:\" and \"  - id: kitchen_lamp\"; then write triggers: and actions:",
        "buttons belong in the rules file",
        "choose between programs with if: or choose:",
        "compare old or new here, and write other expressions under conditions:",
        "error belongs inside on_error",
        "for a time write delay: 10s; a wait has until: and timeout:",
        "give both rules the same queued",
        "give count (6:3) type: integer",
        "give lamp (5:3) type: integer",
        "give power (2:10) type: integer",
        "inputs belong inside a script",
        "only an entry of a cycle may be a list of steps",
        "remove the quotes from level (11:3), or use ~ to join text",
        "repeat belongs inside the actions of a repeat",
        "the broker belongs in tryck.yaml",
        "use at:, with a list of times",
        "use choose:, one branch for each condition",
        "use default: beside choose",
        "use env or stdin",
        "use expect_variables:",
        "use if/then/else steps or a if b else c",
        "use publish:, run: or shell:",
        "use state:, because a change of a variable starts no rule",
        "use the top-level include: list",
        "use trigger_mode: auto",
        "use while: held or count:; to wait for something, use a wait step",
        "variables are declared under variables:",
        "write button: and event:",
        "write clicks: 3",
        "write clicks: 4",
        "write else: with the steps for that case; the run then continues after them",
        "write it on one line, without |",
        "write it out",
        "write it with decimal digits only",
        "write publish:, run:, shell: or another action",
        // The sentence explains a limit, and names no other text.
        "\"desk\" is declared at 5:3 without model: duo",
        "\"kitchen\" is declared at 3:11 without model: duo",
        "\"kitchen\" is declared at 3:3 without model: duo",
        "\"kitchen\" is declared at 3:3 without model: duo or twist",
        "\"sofa\" is declared at 4:3 without model: twist",
        "A-Z, a-z, 0-9 and _, not beginning with a digit",
        "a count is 0 while no topic has a true value",
        "a count is an integer",
        "a hold would always win",
        "a run that waits for a time goes on when it has passed; timeout: is the limit",
        "actions.http is false in tryck.yaml",
        "actions.shell is false in tryck.yaml",
        "included files must be in the entry file's directory or below it",
        "install it, or write its whole path",
        "it contains a control character",
        "it decides which programs and libraries are started",
        "it is a word of the language",
        "letters, digits and -",
        "no / at its ends, and no //",
        "only wait_for has it",
        "other YAML tools read it as false",
        "other YAML tools read it as true",
        "such topics are reserved for the broker",
        "take one of the calls out; for repeating steps there is repeat:",
        "this rule also has at",
        "this rule also has click",
        "this rule also has double_click",
        "wait_for does not have it; read happened, event, button or id",
    ]
}
