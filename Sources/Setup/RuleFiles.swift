import Edges
import Glibc
import Platform

/// Reads the files of a rule set from the disk.
///
/// All functions block for the disk. They do not wait for FIFOs and devices, because only regular files are read.
package enum RuleFiles {
    /// A file of the rule set.
    package struct File: Hashable, Sendable {
        /// The file's name in messages.
        package var name: String
        package var octets: [UInt8]
        package var isReadableByOthers: Bool
        /// The path without symbolic links. Two names with the same path are the same file.
        package var path: String
    }

    package enum FileResult: Hashable, Sendable {
        /// Ordered by the octets of their names.
        case files([File])
        case noSuchFile
        /// The file, with symbolic links resolved, lies outside the entry file's directory.
        case isOutside
        /// There are more than `maximumFiles`.
        case tooManyFiles
        /// The reason, in the system's words.
        case cannotBeRead(String)
    }

    package static let maximumLength = 16 << 20
    package static let maximumFiles = 1_000

    /// The file with a name, or the files that match a pattern.
    ///
    /// - Parameters:
    ///   - pattern: a path, absolute or relative to the directory of `file`. With `*`, `?` or `[` it is a pattern,
    ///     which matches regular files only, and may match none.
    ///   - file: the name of the including file. The names of the files found begin with the same directory.
    ///   - entry: the path of the entry file.
    ///   - matches: whether a name matches a path component of the pattern.
    package static func files(
        matching pattern: String, relativeTo file: String, entry: String,
        matches: (_ name: Substring, _ pattern: Substring) -> Bool
    ) -> FileResult {
        guard let root = resolved(directory(of: entry)) else { return .cannotBeRead(systemMessage(errno)) }
        let start = pattern.hasPrefix("/") ? "/" : directory(of: file)
        guard pattern.utf8.contains(where: { $0 == 0x2A || $0 == 0x3F || $0 == 0x5B }) else {
            return read([join(start, pattern)], below: root)
        }
        var found = [start]
        let steps = pattern.split(separator: "/").filter { $0 != "." }
        for (index, step) in steps.enumerated() {
            let wantsDirectory = index < steps.count - 1
            var next: [String] = []
            for directory in found {
                for path in expand(step, in: directory, matches) where isThere(path, asDirectory: wantsDirectory) {
                    next.append(path)
                    guard next.count <= maximumFiles else { return .tooManyFiles }
                }
            }
            found = next
        }
        return read(found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, below: root)
    }

    /// Reads a file, which may be in any directory. It may be longer than the files of a set, so that the loader reports its
    /// length (E112) as a diagnostic.
    ///
    /// - Parameter name: a path.
    package static func file(_ name: String) -> FileResult {
        guard let path = resolved(name) else { return failure() }
        return read(path, as: name, maximumLength: FileText.maximumLength)
    }

    // MARK: Reading

    /// Reads all files; a failure of any of them is the answer, because an incomplete set must not run.
    private static func read(_ names: [String], below root: String) -> FileResult {
        var files: [File] = []
        for name in names {
            guard let path = resolved(name) else { return failure() }
            guard path.hasPrefix(root == "/" ? "/" : root + "/") else { return .isOutside }
            switch read(path, as: name) {
            case .files(let more): files += more
            case let answer: return answer
            }
        }
        return .files(files)
    }

    private static func failure() -> FileResult {
        errno == ENOENT || errno == ENOTDIR ? .noSuchFile : .cannotBeRead(systemMessage(errno))
    }

    /// - Parameter path: a path without symbolic links. If a link has replaced the file meanwhile, it is not followed.
    private static func read(
        _ path: String, as name: String, maximumLength: Int = RuleFiles.maximumLength
    ) -> FileResult {
        do throws(RegularFile.Failure) {
            let file = try RegularFile(path, maximumLength: maximumLength)
            return .files(
                [File(name: name, octets: file.octets, isReadableByOthers: file.isReadableByOthers, path: path)])
        } catch {
            switch error {
            case .system(let code) where code == ENOENT: return .noSuchFile
            case .system(let code): return .cannotBeRead(systemMessage(code))
            case .notRegular: return .cannotBeRead("it is not a regular file")
            case .tooLong: return .cannotBeRead("it is longer than \(maximumLength >> 20) MiB")
            }
        }
    }

    // MARK: Finding

    private static func expand(
        _ step: Substring, in directory: String, _ matches: (Substring, Substring) -> Bool
    ) -> [String] {
        guard step.utf8.contains(where: { $0 == 0x2A || $0 == 0x3F || $0 == 0x5B }) else {
            return [join(directory, String(step))]
        }
        return names(in: directory).filter { matches(Substring($0), step) }.map { join(directory, $0) }
    }

    private static func isThere(_ path: String, asDirectory: Bool) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == (asDirectory ? S_IFDIR : S_IFREG)
    }

    private static func directory(of name: String) -> String {
        guard let slash = name.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }

    private static func join(_ directory: String, _ path: String) -> String {
        if path.hasPrefix("/") { return path }
        let path = path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        return directory == "." ? path : directory == "/" ? "/" + path : "\(directory)/\(path)"
    }

    private static func resolved(_ path: String) -> String? {
        guard !path.utf8.contains(0) else {
            errno = ENOENT
            return nil
        }
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

extension RuleFiles {
    /// The names of the files and directories in a directory, without hidden ones; empty if there is no such directory.
    /// Names of directories end with `/`. At most `maximumFiles` names are returned.
    package static func names(of directory: String) -> [String] {
        guard !directory.utf8.contains(0) else { return [] }
        return names(in: directory).filter { !$0.hasPrefix(".") }.sorted().prefix(maximumFiles).map {
            isThere("\(directory)/\($0)", asDirectory: true) ? $0 + "/" : $0
        }
    }

    /// True if a rule can start this program by a name without a slash.
    package static func isProgram(_ name: String, in directories: [String] = ProcessEdge.searchPath) -> Bool {
        directories.contains { directory in
            let path = "\(directory)/\(name)"
            return isThere(path, asDirectory: false) && access(path, X_OK) == 0
        }
    }

    /// The names without `.` and `..`, unordered; empty if there is no such directory. Names that are not UTF-8 are
    /// left out, because rules cannot refer to them.
    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
