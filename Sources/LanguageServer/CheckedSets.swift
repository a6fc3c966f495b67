import RuleTesting
import Rules
import YAMLFiles

/// The sets of rules that the open documents belong to: their last checks, and what is still needed of earlier ones.
///
/// A set is kept while an open document belongs to it. Sets are found by their keys, documents by their paths.
struct CheckedSets: Sendable {
    /// The key of the set that each open document belongs to.
    private var keys: [String: String] = [:]
    /// The last check of each set.
    private var last: [String: CheckedSet] = [:]
    /// The last check of each set in which all of its files were valid YAML. Names are taken from it while a line is half
    /// written.
    private var complete: [String: CheckedSet] = [:]
    /// The rules of the last check of each set that found no errors. How long clicks wait is taken from them while the set
    /// has errors.
    private var valid: [String: RuleSet] = [:]
    /// How long the clicks of buttons wait, by the key of the set and the name of the button. A set is analysed when the first
    /// of its times is needed.
    private var clickTimings: [String: [String: ClickTiming]] = [:]
    /// The results of the last runs of tests, by the key of the set and the name of the test; true if the test has passed.
    /// They are removed when the set is checked again, because its rules may have changed.
    private var testResults: [String: [String: Bool]] = [:]

    // MARK: Looking up

    /// The last check of each set, in the order of their keys.
    var all: [CheckedSet] { last.sorted { $0.key < $1.key }.map(\.value) }

    /// The names of the files that are needed of any check.
    var fileNames: [String] { (Array(last.values) + Array(complete.values)).flatMap { $0.files.map(\.name) } }

    /// The configurations that the sets belong to.
    var configurationPaths: Set<String> { Set(last.values.compactMap(\.configurationPath)) }

    /// True if a check has found the set of the document.
    func hasSet(of path: String) -> Bool { keys[path] != nil }

    func set(of path: String) -> CheckedSet? { keys[path].flatMap { last[$0] } }

    /// The set of a document with which names are completed and explained: as it was when all of its files were valid YAML
    /// for the last time. If they never were, it is the set of the last check.
    func lastCompleteSet(of path: String) -> CheckedSet? { keys[path].flatMap { complete[$0] ?? last[$0] } }

    /// True if a check has found all files of the set to be valid YAML.
    func wasComplete(_ set: CheckedSet) -> Bool { complete[set.key] != nil }

    /// The rules of the set of a document as they were when it had no errors for the last time; `nil` if it always had some.
    func lastValidSet(of path: String) -> RuleSet? { keys[path].flatMap { valid[$0] } }

    /// One document of each other set that contains the file.
    func documents(ofOtherSetsWith path: String) -> [String] {
        last.filter { $0.key != keys[path] && $0.value.contains(path) }
            .compactMap { key, _ in keys.first { $0.value == key && $0.key != path }?.key }
    }

    /// The entry files of the sets that contain a file, that of its own set first. The file itself is none of them. A set also
    /// contains what it contained at its last complete check, because the includes of a half-written file are not known.
    func entries(ofSetsWith path: String) -> [String] {
        let others = last.filter { key, set in
            key != keys[path] && (set.contains(path) || complete[key]?.contains(path) ?? false)
        }.sorted { $0.key < $1.key }
        return ([set(of: path)].compactMap(\.self) + others.map(\.value)).map(\.entry.name)
            .filter { !$0.isEmpty && $0 != path }
    }

    /// The entry files of the sets that contained a file when all of their files were valid YAML for the last time.
    func entries(ofCompleteSetsWith path: String) -> Set<String> {
        Set(complete.values.filter { $0.contains(path) }.map(\.entry.name))
    }

    /// The names of the files of a document's set for completions, by the names of the files.
    func names(of path: String) -> [String: NamesOfFile] { lastCompleteSet(of: path)?.names ?? [:] }

    /// How long a click of a button waits. This depends on all rules, so it is computed from the last check of the set that found
    /// no errors; `nil` if there was none.
    mutating func timing(of button: String, _ path: String) -> ClickTiming? {
        guard let key = keys[path], let set = valid[key] else { return nil }
        if let timings = clickTimings[key] { return timings[button] }
        let explainer = RuleExplainer(set)
        var timings: [String: ClickTiming] = [:]
        for button in set.buttons { timings[button.name] = explainer.clickTiming(of: button.name) }
        clickTimings[key] = timings
        return timings[button]
    }

    /// The results of the tests of the set that a document belongs to; true if the test has passed.
    func testResults(of path: String) -> [String: Bool] { keys[path].flatMap { testResults[$0] } ?? [:] }

    // MARK: Changes

    /// A check of a document has found its set.
    ///
    /// - Parameter open: the paths of the open documents.
    /// - Returns: the open documents of the set, which need no check of their own.
    mutating func take(_ set: CheckedSet, of path: String, open: some Sequence<String>) -> [String] {
        last[set.key] = set
        if set.isComplete { complete[set.key] = set }
        if let value = set.value {
            valid[set.key] = value
            clickTimings[set.key] = nil
        }
        testResults[set.key] = nil
        keys[path] = set.key
        let members = set.key == set.entry.name ? open.filter { set.file($0) != nil } : []
        for member in members { keys[member] = set.key }
        removeUnused()
        return members
    }

    /// A check of other texts than those in the editor has read a set whose files are all valid YAML. Only its names are used.
    ///
    /// - Parameter open: the paths of the open documents.
    /// - Returns: the open documents of the set that were taken for parts of other sets, because its includes were not known.
    mutating func takeComplete(_ set: CheckedSet, open: some Sequence<String>) -> [String] {
        let isNew = complete[set.key] == nil && last[set.key] != nil
        complete[set.key] = set
        removeUnused()
        return isNew ? open.filter { set.file($0) != nil && keys[$0] != set.key } : []
    }

    /// The document belongs to no set, or was closed.
    mutating func remove(_ path: String) {
        keys[path] = nil
        removeUnused()
    }

    /// A test of the set that a document belongs to was run.
    mutating func tested(_ name: String, hasPassed: Bool, _ path: String) {
        if let key = keys[path] { testResults[key, default: [:]][name] = hasPassed }
    }

    private mutating func removeUnused() {
        let used = Set(keys.values)
        last = last.filter { used.contains($0.key) }
        complete = complete.filter { used.contains($0.key) }
        valid = valid.filter { used.contains($0.key) }
        clickTimings = clickTimings.filter { used.contains($0.key) }
        testResults = testResults.filter { used.contains($0.key) }
    }
}
