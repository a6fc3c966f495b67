import Diagnostics
package import JSON
import RuleTesting
import Rules
package import Setup
import Synchronization
import YAMLFiles

/// Answers what the page asks about rule files. All calls read the disk and compute, so they are made off the threads that serve
/// the page.
package final class RuleDesk: Sendable {
    package enum Failure: Error, Hashable, Sendable {
        /// No file of the set has this name.
        case unknownFile(String)
        /// There is no entry file.
        case noRules(String)
        /// The sentence says what is wrong with the request.
        case bad(String)
        case notWritable(String)
        /// The file has changed since the text was read.
        case changed(RuleText)
        /// The text has errors, or contains `***` where no password is known.
        case wrong(String, diagnostics: [JSONValue])
    }

    /// The text of a file as the page sees it.
    package struct RuleText: Hashable, Sendable {
        package var octets: [UInt8]
        package var etag: String
    }

    private let loader: DraftLoader
    private let store: RuleFileStore
    private let canEdit: Bool
    private let environment: [String: String]
    private let key: [UInt8]
    /// Held while a file is compared and written.
    private let writing = Mutex(())

    /// - Parameters:
    ///   - canEdit: whether files may be written.
    ///   - key: octets that only this program knows.
    package init(_ rules: RulesOnDisk, canEdit: Bool, key: [UInt8]) {
        self.key = key
        loader = DraftLoader(rules, key: key)
        store = RuleFileStore(folder: loader.folder, key: key)
        self.canEdit = canEdit
        environment = rules.files.environment
    }

    // MARK: Files

    /// The files of the set, the entry file first. Files that are links are left out.
    package func list() -> JSONValue {
        let files: [JSONValue] = (loader.load([:], .withoutPasswords)?.names ?? []).compactMap { name in
            guard let contents = try? store.read(name) else { return nil }
            let obstacle = canEdit ? contents.obstacle : "web.edit_rules is false in tryck.yaml"
            return [
                "name": .string(name), "entry": .bool(name == loader.entry), "etag": .string(contents.etag),
                "writable": .bool(obstacle == nil), "obstacle": obstacle.map { .string($0) } ?? .null,
            ]
        }
        return ["files": .array(files)]
    }

    package func text(of name: String) throws(Failure) -> RuleText {
        _ = try names(including: [name])
        return shown(try contents(of: name))
    }

    /// Saves a text.
    ///
    /// - Parameters:
    ///   - etag: of the text that it is based on.
    ///   - insists: whether it is saved even with errors.
    /// - Returns: the new etag and the diagnostics.
    package func save(
        _ text: [UInt8], as name: String, ifMatch etag: String, insists: Bool
    ) throws(Failure) -> (etag: String, diagnostics: [JSONValue]) {
        guard canEdit else { throw .notWritable("web.edit_rules is false in tryck.yaml; files are not written") }
        let known = try names(including: [name])
        guard String(validating: text, as: UTF8.self) != nil else { throw .bad("the text is not UTF-8") }
        let before = try contents(of: name)
        guard before.etag == etag else { throw .changed(shown(before)) }
        let mask = PasswordMask(before.octets, key: key)
        let restored: [UInt8]
        do throws(PasswordMask.Unknown) {
            restored = try mask.restored(text)
        } catch {
            throw .wrong(
                "in line \(error.line), *** is not the mark of a password of the file, or the page would show the password "
                    + "there: write the password again, or better !secret",
                diagnostics: [Self.diagnostic(of: error, in: name)])
        }
        // The diagnostics are those of the text without passwords, because diagnostics quote the text.
        guard let loaded = loader.load([name: restored], .asWritten),
            let shownRules = loader.load([name: mask.neutral(text)], .withoutPasswords)
        else {
            throw .noRules(loader.rules.path)
        }
        let diagnostics = shown(shownRules.result.diagnostics, known: known)
        if loaded.result.value == nil, !insists {
            throw .wrong("the rules have errors and are not saved; correct them, or insist", diagnostics: diagnostics)
        }
        let written = writing.withLock { _ in
            Result { () throws(RuleFileStore.Failure) in try store.write(restored, to: name, ifMatch: etag) }
        }
        switch written {
        case .success(let contents): return (contents.etag, diagnostics)
        case .failure(.notFound): throw .unknownFile(name)
        case .failure(.changed(let present)): throw .changed(shown(present))
        case .failure(.notWritable(let sentence)): throw .notWritable(sentence)
        }
    }

    private func contents(of name: String) throws(Failure) -> RuleFileStore.Contents {
        do throws(RuleFileStore.Failure) {
            return try store.read(name)
        } catch {
            throw .unknownFile(name)
        }
    }

    private func shown(_ contents: RuleFileStore.Contents) -> RuleText {
        RuleText(octets: PasswordMask(contents.octets, key: key).masked, etag: contents.etag)
    }

    /// The names of the set on the disk.
    ///
    /// - Throws: `unknownFile` if one of `wanted` is not among them.
    private func names(including wanted: some Collection<String>) throws(Failure) -> [String] {
        guard let loaded = loader.load([:], .withoutPasswords) else { throw .noRules(loader.rules.path) }
        if let unknown = wanted.first(where: { !loaded.names.contains($0) }) { throw .unknownFile(unknown) }
        return loaded.names
    }

    // MARK: Drafts

    /// Loads the set with drafts. Where drafts have `***`, words of the same length stand, so that no answer can show what
    /// the file has there.
    ///
    /// - Parameters:
    ///   - drafts: the member `files` of the request.
    ///   - view: which passwords and secrets are loaded.
    private func load(_ drafts: JSONValue?, _ view: DraftLoader.View) throws(Failure) -> (
        result: LoadResult<RuleSet>, diagnostics: [JSONValue]
    ) {
        let (texts, names) = try self.drafts(drafts)
        guard let result = loader.load(texts, view)?.result else { throw .noRules(loader.rules.path) }
        return (result, shown(result.diagnostics, known: names))
    }

    private func drafts(_ value: JSONValue?) throws(Failure) -> (texts: RuleDrafts, names: [String]) {
        guard let members = (value ?? .object([])).objectValue else {
            throw .bad(#"the body looks like {"files":{"home.yaml":"…"}}"#)
        }
        let names = try names(including: members.map(\.name))
        var drafts: RuleDrafts = [:]
        for name in names {
            guard let contents = try? store.read(name) else { continue }
            let mask = PasswordMask(contents.octets, key: key)
            if let member = members.first(where: { $0.name == name }) {
                guard let text = member.value.stringValue else { throw .bad("the text of \(name) is not a string") }
                drafts[name] = mask.neutral(Array(text.utf8))
            } else if mask.masked != contents.octets {
                drafts[name] = mask.neutral(mask.masked)
            }
        }
        return (drafts, names)
    }

    /// The folder of the rules.
    package var folder: String { loader.folder }

    /// The texts of a comparison with the past, by the paths of their files. They contain the passwords of the files, as the
    /// rules of the past do. The caller has to hide passwords in its answer (`JSONValue.withoutPasswords`).
    package func texts(_ body: JSONValue) throws(Failure) -> [String: [UInt8]] {
        guard let members = (body["files"] ?? .object([])).objectValue else {
            throw .bad(#"the body looks like {"files":{"home.yaml":"…"}}"#)
        }
        _ = try names(including: members.map(\.name))
        var texts: [String: [UInt8]] = [:]
        for member in members {
            guard let text = member.value.stringValue else { throw .bad("the text of \(member.name) is not a string") }
            let mask = PasswordMask(try contents(of: member.name).octets, key: key)
            let edited = Array(text.utf8)
            texts["\(loader.folder)/\(member.name)"] = (try? mask.restored(edited)) ?? mask.neutral(edited)
        }
        return texts
    }

    /// The diagnostics, as `tryck check --json` prints them.
    package func check(_ body: JSONValue) throws(Failure) -> JSONValue {
        .array(try load(body["files"], .withoutPasswords).diagnostics)
    }

    /// The results of the tests, as `tryck test --json` prints them.
    package func test(_ body: JSONValue) throws(Failure) -> JSONValue {
        RuleTestRunner.run(try set(body)).json()
    }

    /// The effect of an event on each rule, as `tryck explain --json` prints it.
    package func explain(_ body: JSONValue) throws(Failure) -> JSONValue {
        var set = try set(body)
        let question = try PressQuestion(body, in: &set)
        guard let explanation = RuleExplainer(set, given: question.given).explain(question.event) else {
            throw .bad("explain takes a gesture, a turn or a swipe, not \(question.event.event.name)")
        }
        return explanation.json
    }

    private func set(_ body: JSONValue) throws(Failure) -> RuleSet {
        let (result, diagnostics) = try load(body["files"], .withoutSecrets)
        guard let set = result.value else {
            throw .wrong("the rules have errors; correct them first", diagnostics: diagnostics)
        }
        return set
    }

    /// The diagnostics without words of files that only a draft includes, because these files cannot be read on the page.
    ///
    /// - Parameter known: the names of the set on the disk.
    private func shown(_ diagnostics: [Diagnostic], known: [String]) -> [JSONValue] {
        diagnostics.map { diagnostic in
            guard !known.contains(diagnostic.file), diagnostic.file != "secrets.yaml" else { return diagnostic }
            var diagnostic = diagnostic
            diagnostic.message = "\(diagnostic.file) is not in the set yet, and has mistakes"
            diagnostic.hint = "tryck check shows them"
            diagnostic.related = []
            return diagnostic
        }.problemList
    }

    private static func diagnostic(of error: PasswordMask.Unknown, in name: String) -> JSONValue {
        let start = SourcePosition(line: error.line, column: error.column)
        return Diagnostic(
            severity: .error, code: "password", file: name, start: start,
            end: SourcePosition(line: error.line, column: error.column + 3),
            message: "*** is not the mark of a password of the file, or the page would show the password there",
            hint: "write the password again, or better !secret"
        ).json
    }

    // MARK: Editing

    /// The completions at a position of a file.
    package func complete(_ body: JSONValue) throws(Failure) -> JSONValue {
        guard let line = body["line"]?.integerValue, let character = body["character"]?.integerValue,
            (0...Int64(Int32.max)).contains(line), (0...Int64(Int32.max)).contains(character)
        else { throw .bad(#"the body needs "line" and "character", from 0"#) }
        var editor = try editor(body)
        return editor.completions(line: line, character: character)
    }

    /// How long clicks wait, beside their triggers.
    package func hints(_ body: JSONValue) throws(Failure) -> JSONValue {
        var editor = try editor(body)
        return editor.hints()
    }

    private func editor(_ body: JSONValue) throws(Failure) -> DraftEditor {
        guard let name = body["file"]?.stringValue else { throw .bad(#"the body needs "file""#) }
        let (drafts, names) = try drafts(body["files"])
        guard names.contains(name) else { throw .unknownFile(name) }
        let text: [UInt8]
        if let draft = drafts[name] { text = draft } else { text = try contents(of: name).octets }
        return DraftEditor(
            name, text, drafts: drafts, saved: saved(drafts.keys), loader: loader, variables: environment)
    }

    /// The texts of files as they are saved, without their passwords.
    private func saved(_ names: some Sequence<String>) -> RuleDrafts {
        var texts: RuleDrafts = [:]
        for name in names {
            guard let contents = try? store.read(name) else { continue }
            let mask = PasswordMask(contents.octets, key: key)
            texts[name] = mask.neutral(mask.masked)
        }
        return texts
    }
}
