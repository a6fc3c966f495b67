import Diagnostics
package import Rules
package import YAMLFiles

/// Loads the files of one rule set: the entry file and all files that are included.
///
/// The loader opens no files: `nextRequest` is the next thing it needs, `answer(_:)` supplies it, and `loaded()` is the set
/// when `nextRequest` is `nil`. It wants, in this order: the files of each `include`, in the order in which the files were
/// found; the time zone of `location`; then, for each file that a test reloads, that file and everything its own set
/// wants.
///
/// A file that is included twice is read once. A glob skips the file that contains it, the files that led to that file,
/// and `secrets.yaml`; a literal path to one of these is an error (E307, E308).
package struct RuleSetLoader {
    /// A file or a time zone that the loader needs.
    package enum Request: Hashable, Sendable {
        /// The file or files at a path that starts at the directory of the file `from`. The names in the answer begin
        /// with that directory as `from` has it. The files must lie in the entry file's directory after all links are
        /// followed.
        case files(PathPattern, from: String)
        /// The compiled rules of a time zone such as `Europe/Amsterdam`. The name never contains `..`.
        case timeZone(String)
    }

    /// The files or the time zone that the caller found for a `Request`.
    package enum Answer: Sendable {
        /// The files, in any order. A glob may find none.
        case files([SourceFile])
        case noSuchFile
        /// The file lies outside the entry file's directory.
        case isOutside
        /// A glob finds more than `maximumFiles` files.
        case tooManyFiles
        /// The file cannot be read, for the reason that the system gives.
        case cannotBeRead(String)
        /// `nil`: there is no time zone with that name.
        case timeZone([UInt8]?)
    }

    static let maximumFiles = 1000
    /// How many files the tests of a set may reload. One more is an error (E205).
    static let maximumReloads = 100

    private var inputs: LoadInputs
    private let followsReloads: Bool
    /// The files found so far; `nil` when all included files are read.
    private var graph: IncludeGraph?
    /// The documents of the set, when all included files are read.
    private var documents: [RuleDocument] = []
    private var wantedZone: String?
    private var reloads: ArraySlice<Reload> = []
    /// The loader of the first of `reloads`, while it is reading. It is an array of at most one, because a struct
    /// cannot contain itself.
    private var reloaded: [RuleSetLoader] = []

    /// A file that the tests of a document reload: its path as written, and the first step that names it.
    private struct Reload {
        var text: String
        var document: Int
        var node: YAMLNode
    }

    package init(_ entry: SourceFile, in inputs: LoadInputs) {
        self.init(entry, in: inputs, followsReloads: true)
    }

    private init(_ entry: SourceFile, in inputs: LoadInputs, followsReloads: Bool) {
        self.inputs = inputs
        self.followsReloads = followsReloads
        graph = IncludeGraph(entry, in: inputs.fileInputs)
        proceed()
    }

    /// The next file or time zone that the loader needs; `nil` when it has everything.
    package var nextRequest: Request? {
        if let inclusion = graph?.next { return .files(inclusion.pattern, from: inclusion.origin) }
        if let wantedZone { return .timeZone(wantedZone) }
        if let reloaded = reloaded.first { return reloaded.nextRequest }
        return reloads.first.map { .files(PathPattern($0.text), from: name(of: $0)) }
    }

    /// - Parameter answer: the answer to `nextRequest`.
    package mutating func answer(_ answer: Answer) {
        if graph != nil {
            graph?.answer(answer)
        } else if let zone = wantedZone {
            if case .timeZone(let octets?) = answer { inputs.timeZones[zone] = octets }
            wantedZone = nil
        } else if !reloaded.isEmpty {
            reloaded[0].answer(answer)
        } else if let reload = reloads.first {
            begin(reload, with: answer)
        }
        proceed()
    }

    /// The set and the diagnostics about its files. Errors in reloaded files are not reported: a test may reload a file
    /// with errors on purpose.
    package consuming func loaded() -> LoadResult<RuleSet> {
        let inputs = inputs
        return RuleSetReader.load((consume self).documents, in: inputs)
    }

    /// Proceeds to the next thing that needs an answer.
    private mutating func proceed() {
        guard graph?.next == nil else { return }
        if let complete = graph.take() {
            documents = complete.documents()
            wantedZone = documents.first?.timeZone.flatMap { inputs.timeZones[$0] == nil ? $0 : nil }
            if followsReloads { reloads = RuleSetLoader.reloads(in: &documents)[...] }
        }
        while let loader = reloaded.first, loader.nextRequest == nil, let reload = reloads.first {
            reloaded = []
            let set = loader.loaded()
            finish(reload, with: set.value.map { .set($0) } ?? .hasErrors(file: reload.text))
        }
    }

    // MARK: Reloads by tests

    private func name(of reload: Reload) -> String { documents[reload.document].checker.source.name }

    private mutating func begin(_ reload: Reload, with answer: Answer) {
        if case .files(let files) = answer, files.count == 1 {
            reloaded = [RuleSetLoader(files[0], in: inputs, followsReloads: false)]
            return
        }
        let text = "reload \"\(Checker.shown(reload.text))\""
        let message =
            switch answer {
            case .files(let files) where files.count > 1: "\(text) must name one file"
            case .tooManyFiles: "\(text) must name one file"
            case .isOutside: "\(text) leaves the configuration directory"
            case .cannotBeRead(let reason): "\(text) cannot be read: \(reason)"
            case .files, .noSuchFile, .timeZone: "\(text) was not found"
            }
        documents[reload.document].checker.error("E308", at: reload.node, message)
        finish(reload, with: .hasErrors(file: reload.text))
    }

    private mutating func finish(_ reload: Reload, with set: ReloadResult) {
        documents[reload.document].reloads[reload.text] = set
        reloads.removeFirst()
    }

    /// The files that tests reload, each once for each document.
    private static func reloads(in documents: inout [RuleDocument]) -> [Reload] {
        var reloads: [Reload] = []
        for number in documents.indices {
            var texts: Set<String> = []
            for (text, node) in documents[number].reloadedFiles where texts.insert(text).inserted {
                guard reloads.count < maximumReloads else {
                    documents[number].checker.error(
                        "E205", at: node, "the tests of a set reload at most \(maximumReloads) files")
                    continue
                }
                reloads.append(Reload(text: text, document: number, node: node))
            }
        }
        return reloads
    }
}

extension RuleDocument {
    /// The time zone that `location` names, if the name is a plain relative path.
    fileprivate var timeZone: String? {
        guard let node = root?["location"]?["timezone"], let name = text(node) else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPath = name.utf8.count <= 64 && !parts.contains { $0.isEmpty || $0.hasPrefix(".") || $0.utf8.contains(0) }
        return isPath ? name : nil
    }

    /// The paths in the `reload` steps of tests, and their nodes.
    fileprivate var reloadedFiles: [(String, YAMLNode)] {
        let steps = (root?["tests"]?.elements ?? []).flatMap { $0["steps"]?.elements ?? [] }
        return steps.compactMap { step in
            guard let node = step["reload"], !node.isNull, node.tag == nil, let text = text(node), !text.isEmpty else {
                return nil
            }
            return (text, node)
        }
    }

    /// The text of a node. Faults are not reported here, because the node is read again.
    private func text(_ node: YAMLNode) -> String? {
        var checker = checker
        return checker.text(node, key: "", .areForbidden)?.string
    }
}
