import Diagnostics
import Expressions
import YAMLFiles

/// The files of one rule set and which file includes which.
///
/// Files are read in the order in which they are found; `documents()` then puts them in the order of the set. A set has
/// at most `RuleSetLoader.maximumFiles` files and as many entries of `include`, and at most `maximumSize` octets and
/// `maximumNodes` nodes in all files together. Reading stops at the first bound that is exceeded.
struct IncludeGraph {
    static let maximumSize = 64 << 20
    static let maximumNodes = 2 * YAMLComposer.maximumNodes

    /// An entry of `include`.
    struct Inclusion {
        var file: Int
        var node: YAMLNode
        var pattern: PathPattern
        /// The name of the file that contains the entry.
        var origin: String
    }

    private struct File {
        var document: RuleDocument
        var name: String
        var children: [Child] = []
    }

    private struct Child {
        var file: Int
        var node: YAMLNode
        var isGlob: Bool
    }

    /// Equal requests find the same files: the pattern and the directory to which it is relative.
    private struct Request: Hashable {
        var pattern: PathPattern
        var directory: Substring
    }

    private let inputs: FileInputs
    private var files: [File] = []
    /// Indices in `files`, by the identity of the file.
    private var numbers: [String: Int] = [:]
    private var inclusions: [Inclusion] = []
    /// The number of `inclusions` whose files are found.
    private var answered = 0
    /// The files found for each request, for entries that occur in several files of one directory.
    private var found: [Request: [Int]] = [:]
    private var secrets: Secrets?
    private var size = 0
    private var nodeCount = 0

    init(_ entry: SourceFile, in inputs: FileInputs) {
        self.inputs = inputs
        _ = add(entry, isEntry: true)
    }

    /// The `include` entry whose files are needed next; `nil` when all files are read.
    var next: Inclusion? { answered < inclusions.count ? inclusions[answered] : nil }

    /// Adds the files that were found for `next` to the set.
    mutating func answer(_ answer: RuleSetLoader.Answer) {
        guard let inclusion = next else { return }
        answered += 1
        let text = "include \"\(Checker.shown(inclusion.pattern.text))\""
        switch answer {
        case .files(let files) where files.isEmpty && !inclusion.pattern.isLiteral:
            self.files[inclusion.file].document.checker.warning("W706", at: inclusion.node, "\(text) matches no file")
        case .files(let files) where !files.isEmpty: include(files, inclusion)
        case .files, .noSuchFile: fail(inclusion, "E308", "\(text) was not found")
        case .isOutside:
            fail(
                inclusion, "E308", "\(text) leaves the configuration directory",
                hint: "included files must be in the entry file's directory or below it")
        case .tooManyFiles: stop(inclusion, "more than \(RuleSetLoader.maximumFiles) files in one set")
        case .cannotBeRead(let reason): fail(inclusion, "E308", "\(text) cannot be read: \(reason)")
        case .timeZone: preconditionFailure("no zone was asked for")
        }
        answerKnownRequests()
    }

    // MARK: Reading

    private mutating func include(_ files: [SourceFile], _ inclusion: Inclusion) {
        let isGlob = !inclusion.pattern.isLiteral
        var children: [Int] = []
        for file in files {
            if let secrets = inputs.secrets, identity(of: secrets) == identity(of: file) {
                guard isGlob else { return fail(inclusion, "E308", "\(secrets.name) is read only through !secret") }
                continue
            }
            guard let number = numbers[identity(of: file)] ?? read(file, inclusion) else { return }
            children.append(number)
        }
        found[request(for: inclusion)] = children
        connect(inclusion, to: children)
    }

    private mutating func connect(_ inclusion: Inclusion, to children: [Int]) {
        let isGlob = !inclusion.pattern.isLiteral
        files[inclusion.file].children += children.map { Child(file: $0, node: inclusion.node, isGlob: isGlob) }
    }

    private mutating func answerKnownRequests() {
        while let inclusion = next, let children = found[request(for: inclusion)] {
            answered += 1
            connect(inclusion, to: children)
        }
    }

    private func request(for inclusion: Inclusion) -> Request {
        let slash = inclusion.origin.utf8.lastIndex(of: UInt8(ascii: "/"))
        return Request(pattern: inclusion.pattern, directory: slash.map { inclusion.origin[..<$0] } ?? "")
    }

    private func identity(of file: SourceFile) -> String { file.identity ?? file.name }

    /// Adds a file that was not read before and returns its number. Stops reading and returns `nil` when the file
    /// exceeds a bound.
    private mutating func read(_ file: SourceFile, _ inclusion: Inclusion) -> Int? {
        if files.count >= RuleSetLoader.maximumFiles {
            stop(inclusion, "more than \(RuleSetLoader.maximumFiles) files in one set")
        } else if size + file.text.count > IncludeGraph.maximumSize {
            stop(inclusion, "the files of one set are longer than \(IncludeGraph.maximumSize >> 20) MiB together")
        } else if nodeCount >= IncludeGraph.maximumNodes {
            stop(inclusion, "more than \(IncludeGraph.maximumNodes) values in one set")
        } else {
            return add(file, isEntry: false)
        }
        return nil
    }

    private mutating func add(_ file: SourceFile, isEntry: Bool) -> Int {
        let parsed = Document(file, in: inputs, .rules, secrets: &secrets)
        var document = RuleDocument(parsed, isEntry: isEntry)
        size += file.text.count
        nodeCount += parsed.nodeCount
        let number = files.count
        let inclusions = document.inclusions(of: number)
        numbers[identity(of: file)] = number
        files.append(File(document: document, name: file.name))
        for inclusion in inclusions {
            guard self.inclusions.count < RuleSetLoader.maximumFiles else {
                stop(inclusion, "more than \(RuleSetLoader.maximumFiles) includes in one set")
                break
            }
            self.inclusions.append(inclusion)
        }
        return number
    }

    private mutating func fail(_ inclusion: Inclusion, _ code: String, _ message: String, hint: Hint? = nil) {
        files[inclusion.file].document.isComplete = false
        files[inclusion.file].document.checker.error(code, at: inclusion.node, message, hint: hint)
    }

    private mutating func stop(_ inclusion: Inclusion, _ message: String) {
        fail(inclusion, "E112", message)
        answered = inclusions.count
    }

    // MARK: Order

    /// Returns each file once, before the files that it includes; these are sorted by the octets of their names.
    /// Reports files that include each other (E307).
    consuming func documents() -> [RuleDocument] {
        var order = [0]
        var isPlaced = files.map { _ in false }
        isPlaced[0] = true
        // The path from the entry file to the visited file, each file with its children that are not visited yet.
        var path: [(file: Int, children: ArraySlice<Child>)] = [(0, children(of: 0))]
        while let (file, children) = path.last {
            guard let child = children.first else {
                path.removeLast()
                continue
            }
            path[path.count - 1].children = children.dropFirst()
            if let start = path.firstIndex(where: { $0.file == child.file }) {
                guard !child.isGlob else { continue }
                let names = (path[start...].map(\.file) + [child.file]).map { files[$0].name }
                let shown = names.count <= 6 ? names : names.prefix(3) + ["…"] + names.suffix(2)
                files[file].document.checker.error(
                    "E307", at: child.node, "files include each other: " + shown.joined(separator: " → "))
            } else if !isPlaced[child.file] {
                isPlaced[child.file] = true
                order.append(child.file)
                path.append((child.file, self.children(of: child.file)))
            }
        }
        return order.map { files[$0].document }
    }

    private func children(of file: Int) -> ArraySlice<Child> {
        files[file].children.enumerated().sorted { left, right in
            let (first, second) = (files[left.element.file].name.utf8, files[right.element.file].name.utf8)
            guard left.element.file != right.element.file else { return left.offset < right.offset }
            return first.lexicographicallyPrecedes(second)
        }.map(\.element)[...]
    }
}

extension RuleDocument {
    /// Reads the entries under `include` and reports faulty ones.
    fileprivate mutating func inclusions(of file: Int) -> [IncludeGraph.Inclusion] {
        guard let node = root?["include"], !node.isNull else { return [] }
        var inclusions: [IncludeGraph.Inclusion] = []
        for node in checker.oneOrMany(node, empty: "an empty list includes nothing") {
            let text = checker.text(node, key: "include", .areForbidden)?.string
            if let text, !text.isEmpty, !text.utf8.contains(0) {
                inclusions.append(
                    .init(file: file, node: node, pattern: PathPattern(text), origin: checker.source.name))
                continue
            }
            if text != nil { checker.error("E203", at: node, "\"include\" must name a file") }
            isComplete = false
        }
        return inclusions
    }
}
