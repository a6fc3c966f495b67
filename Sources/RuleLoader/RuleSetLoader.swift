import Diagnostics
package import Rules

/// Reads the files of one rule set: the entry file, what it includes, and what those include.
///
/// It opens nothing. It says what it wants, one thing at a time, and is given an answer; when nothing is wanted any
/// more, the set is `loaded()`. What is wanted comes in this order: what each `include` names, in the order in which
/// the files were found; the time zone of `location`; then, for each file that a test reloads, that file and everything
/// its own set wants.
///
/// A file that is included twice is read once. A glob leaves out the file it stands in, those that led to it, and
/// `secrets.yaml`; a path written out that leads back is a cycle (E307).
package struct RuleSetLoader {
    package enum Want: Hashable, Sendable {
        /// The file or the files of that name, from the directory of the file `from`. Their names are to begin as that
        /// one's does. They must lie in the entry file's directory after all links are followed.
        case files(PathPattern, from: String)
        /// The compiled rules of a time zone, `Europe/Amsterdam`; the name never leads upward.
        case timeZone(String)
    }

    package enum Answer: Sendable {
        /// In any order. A glob may find none.
        case files([SourceFile])
        case noSuchFile
        /// It lies outside the entry file's directory.
        case isOutside
        /// A glob that finds more than `maximumFiles`.
        case tooManyFiles
        /// What the system says about it.
        case cannotBeRead(String)
        /// `nil`: there is no such zone.
        case timeZone([UInt8]?)
    }

    package static let maximumFiles = 1000
    /// How many files the tests of a set may reload; further ones count as files with errors.
    static let maximumReloads = 100

    private var environment: LoadEnvironment
    private let followsReloads: Bool
    /// Until everything that is included is there.
    private var graph: IncludeGraph?
    /// From then on.
    private var documents: [Document] = []
    private var wantedZone: String?
    private var reloads: ArraySlice<Reload> = []
    /// The set that the first of `reloads` brings, while it is being read; one at most.
    private var reloaded: [RuleSetLoader] = []

    /// A file that tests reload: where it is written first, and from which files.
    private struct Reload {
        var text: String
        var document: Int
        var node: YAMLNode
    }

    package init(_ entry: SourceFile, in environment: LoadEnvironment) {
        self.init(entry, in: environment, followsReloads: true)
    }

    private init(_ entry: SourceFile, in environment: LoadEnvironment, followsReloads: Bool) {
        self.environment = environment
        self.followsReloads = followsReloads
        graph = IncludeGraph(entry, in: environment)
        goOn()
    }

    /// `nil`: everything is there.
    package var want: Want? {
        if let inclusion = graph?.next { return .files(inclusion.pattern, from: inclusion.origin) }
        if let wantedZone { return .timeZone(wantedZone) }
        if let reloaded = reloaded.first { return reloaded.want }
        return reloads.first.map { .files(PathPattern($0.text), from: name(of: $0)) }
    }

    /// - Parameter answer: to `want`.
    package mutating func answer(_ answer: Answer) {
        if graph != nil {
            graph?.answer(answer)
        } else if let zone = wantedZone {
            if case .timeZone(let octets?) = answer { environment.timeZones[zone] = octets }
            wantedZone = nil
        } else if !reloaded.isEmpty {
            reloaded[0].answer(answer)
        } else if let reload = reloads.first {
            begin(reload, with: answer)
        }
        goOn()
    }

    /// The set, and what is wrong with its files. Reloaded files are not reported: a test may want them to have errors.
    package consuming func loaded() -> Loaded<RuleSet> { RuleReader.load((consume self).finished()) }

    private consuming func finished() -> [Document] {
        for index in documents.indices { documents[index].checker.environment = environment }
        return documents
    }

    /// Takes the steps that need no answer.
    private mutating func goOn() {
        guard graph?.next == nil else { return }
        if let complete = graph.take() {
            documents = complete.documents()
            wantedZone = documents.first?.timeZone.flatMap { environment.timeZones[$0] == nil ? $0 : nil }
            if followsReloads { reloads = RuleSetLoader.reloads(in: documents)[...] }
        }
        while let loader = reloaded.first, loader.want == nil, let reload = reloads.first {
            reloaded = []
            let set = loader.loaded()
            finish(reload, with: set.value.map { .set($0) } ?? .hasErrors(file: reload.text))
        }
    }

    // MARK: What tests reload

    private func name(of reload: Reload) -> String { documents[reload.document].checker.source.name }

    private mutating func begin(_ reload: Reload, with answer: Answer) {
        if case .files(let files) = answer, files.count == 1 {
            reloaded = [RuleSetLoader(files[0], in: environment, followsReloads: false)]
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

    private mutating func finish(_ reload: Reload, with set: ReloadedSet) {
        documents[reload.document].reloads[reload.text] = set
        reloads.removeFirst()
    }

    /// Each file that a test of a document names, once.
    private static func reloads(in documents: [Document]) -> [Reload] {
        var reloads: [Reload] = []
        for (number, document) in documents.enumerated() {
            var texts: Set<String> = []
            for (text, node) in document.reloadedFiles where texts.insert(text).inserted {
                guard reloads.count < maximumReloads else { return reloads }
                reloads.append(Reload(text: text, document: number, node: node))
            }
        }
        return reloads
    }
}

extension Document {
    /// The zone that `location` names, if files can have such a name.
    fileprivate var timeZone: String? {
        guard let node = root?["location"]?["timezone"], let name = text(node) else { return nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPath = name.utf8.count <= 64 && !parts.contains { $0.isEmpty || $0.hasPrefix(".") || $0.utf8.contains(0) }
        return isPath ? name : nil
    }

    /// What stands under the `reload` steps of tests.
    fileprivate var reloadedFiles: [(String, YAMLNode)] {
        let steps = (root?["tests"]?.elements ?? []).flatMap { $0["steps"]?.elements ?? [] }
        return steps.compactMap { step in
            guard let node = step["reload"], !node.isNull, node.tag == nil, let text = text(node), !text.isEmpty else {
                return nil
            }
            return (text, node)
        }
    }

    /// The text of a node; whoever reads the node itself says what is wrong with it.
    private func text(_ node: YAMLNode) -> String? {
        var checker = checker
        return checker.text(node, key: "", .areForbidden)?.string
    }
}
