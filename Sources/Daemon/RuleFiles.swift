import Glibc
import RuleLoader

/// The files of a rule set as they lie on the disk: what the set's loader asks for.
struct RuleFiles {
    /// The entry file's directory after all links are followed: nothing outside it is read.
    private let root: String
    private let zoneDirectory = "/usr/share/zoneinfo/"

    init(entry path: String) { root = RuleFiles.realPath(ConfigurationFiles.directory(of: path)) ?? "/" }

    func answer(to want: RuleSetLoader.Want) -> RuleSetLoader.Answer {
        switch want {
        case .timeZone(let name): .timeZone(try? FileText(reading: zoneDirectory + name).octets)
        case .files(let pattern, let origin): answer(PathPattern.path(pattern.text, besides: origin), pattern)
        }
    }

    private func answer(_ path: String, _ pattern: PathPattern) -> RuleSetLoader.Answer {
        guard !pattern.isLiteral else { return read([path], isLiteral: true) }
        var names = [path.hasPrefix("/") ? "/" : ""]
        for part in path.split(separator: "/") {
            names = names.flatMap { RuleFiles.entries(of: $0, matching: part) }
            guard names.count <= RuleSetLoader.maximumFiles else { return .tooManyFiles }
        }
        return read(names, isLiteral: false)
    }

    private func read(_ names: [String], isLiteral: Bool) -> RuleSetLoader.Answer {
        var files: [SourceFile] = []
        for name in names {
            guard let real = RuleFiles.realPath(name) else {
                if isLiteral { return .noSuchFile }
                continue
            }
            guard real.hasPrefix(root == "/" ? root : root + "/") else { return .isOutside }
            do throws(FileText.Failure) {
                files.append(SourceFile(try FileText(reading: name), named: name, identity: real))
            } catch {
                // What a glob finds and is no file was not meant.
                if isLiteral { return .cannotBeRead("\(error)") }
            }
        }
        return .files(files)
    }

    /// The paths in a directory, one of which a part of a glob means.
    private static func entries(of directory: String, matching part: Substring) -> [String] {
        let prefix = directory.isEmpty || directory.hasSuffix("/") ? directory : directory + "/"
        guard !PathPattern(String(part)).isLiteral else { return [prefix + part] }
        guard let stream = opendir(prefix.isEmpty ? "." : prefix) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream), names.count <= RuleSetLoader.maximumFiles {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if PathPattern.matches(name: name[...], pattern: part) { names.append(prefix + name) }
        }
        return names
    }

    static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    // MARK: The machine

    /// What `TZ` names, else what `/etc/localtime` leads to.
    static func systemTimeZone(_ environment: [String: String]) -> LoadEnvironment.ZoneFile? {
        let directory = "/usr/share/zoneinfo/"
        if let name = environment["TZ"]?.drop(while: { $0 == ":" }), !name.isEmpty, !name.hasPrefix("/"),
            !name.split(separator: "/").contains(".."),
            let octets = try? FileText(reading: directory + name).octets
        {
            return LoadEnvironment.ZoneFile(name: String(name), octets: octets)
        }
        guard let octets = try? FileText(reading: "/etc/localtime").octets else { return nil }
        let real = realPath("/etc/localtime") ?? ""
        let name = real.hasPrefix(directory) ? String(real.dropFirst(directory.count)) : "the machine's own"
        return LoadEnvironment.ZoneFile(name: name, octets: octets)
    }

    /// What a program without a slash may be.
    static func programs() -> Set<String> {
        var names: Set<String> = []
        for directory in ProcessEdge.searchPath {
            guard let stream = opendir(directory) else { continue }
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { names.insert(String(cString: $0)) }
                }
            }
        }
        return names
    }
}

extension SourceFile {
    init(_ text: FileText, named name: String, identity: String? = nil) {
        self.init(
            name: name, text: text.octets, isReadableByOthers: text.isReadableByOthers, identity: identity)
    }
}
