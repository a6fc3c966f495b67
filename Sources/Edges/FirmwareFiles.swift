import Glibc
import Hub
import Platform

/// The firmware files that users have put into the state directory.
///
/// A firmware file is a regular file, is named `MODEL-VERSION.bin`, and contains one image. Other files are ignored.
struct FirmwareFiles: Hashable, Sendable {
    /// In octets: a header of 8 octets and at most 65,535 words of 4 octets, because the header's length has 16 bits.
    static let maximumLength = 8 + 4 * 65_535
    /// The maximum number of files that are listed.
    static let maximumCount = 64
    /// The maximum number of directory entries that are read.
    static let maximumEntryCount = 1024
    private static let maximumNotices = 8

    /// Ordered by model and version.
    private(set) var files: [FirmwareFile] = []
    /// Why `.bin` files are not in `files`, or the directory was not read completely. Sentences for the log.
    private(set) var notices: [String] = []

    /// Creates the directory if it is missing, so that users find it.
    ///
    /// - Returns: a sentence if that failed.
    static func makeDirectory(_ directory: String) -> String? {
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return nil }
        return "\(directory) cannot be created: \(systemMessage(errno))"
    }

    /// Lists the directory. Blocks.
    init(in directory: String) {
        guard let stream = opendir(directory) else {
            if errno != ENOENT { notices.append("\(directory) cannot be read: \(systemMessage(errno))") }
            return
        }
        defer { closedir(stream) }
        var names: [String] = []
        var count = 0
        while let entry = readdir(stream) {
            count += 1
            guard count <= FirmwareFiles.maximumEntryCount else {
                notices.append("\(directory) has more than \(FirmwareFiles.maximumEntryCount) entries: remove some")
                break
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".bin") { names.append(name) }
        }
        for name in names.sorted() { add(name, in: directory) }
        files.sort { ($0.model, $0.version) < ($1.model, $1.version) }
        if files.count > FirmwareFiles.maximumCount {
            files.removeSubrange(FirmwareFiles.maximumCount...)
            notices.append("\(directory) has more than \(FirmwareFiles.maximumCount) firmware files: remove some")
        }
    }

    private mutating func add(_ name: String, in directory: String) {
        var status = stat()
        guard lstat(directory + "/" + name, &status) == 0 else { return }
        if let file = FirmwareFile(name: name), status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= FirmwareFiles.maximumLength
        {
            return files.append(file)
        }
        guard notices.count < FirmwareFiles.maximumNotices else { return }
        let reason =
            if FirmwareFile(name: name) == nil {
                "its name is not MODEL-VERSION.bin, as in flic2-11.bin"
            } else if status.st_mode & S_IFMT != S_IFREG {
                "it is not a regular file; put the image itself there"
            } else {
                "an image has at most \(FirmwareFiles.maximumLength) octets"
            }
        notices.append("\(directory)/\(name) is ignored: \(reason)")
    }

    /// Reads a file. Blocks.
    static func read(_ file: FirmwareFile, in directory: String) -> FirmwareReading {
        let path = directory + "/" + file.name
        guard FirmwareFile(name: file.name) == file else {
            return .failed("\(path) does not have the name of an image.")
        }
        do throws(RegularFile.Failure) {
            return .octets(try RegularFile(path, maximumLength: maximumLength).octets)
        } catch {
            switch error {
            case .system(ENOENT): return .failed("\(path) does not exist any more; copy it there again.")
            case .system(ELOOP): return .failed("\(path) is a link; put the image itself there.")
            case .system(let number): return .failed("\(path) cannot be read: \(systemMessage(number)).")
            case .notRegular: return .failed("\(path) is not a regular file; put the image itself there.")
            case .tooLong:
                return .failed(
                    "\(path) is too long for an image, which has at most \(maximumLength) octets; download it again.")
            }
        }
    }
}

extension FirmwareFile {
    /// Parses a file name such as `flic2-11.bin`. The version has no leading zeros, so that a file has only one name.
    init?(name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let model = parts.first, (1...16).contains(model.count), let rest = parts.last else {
            return nil
        }
        let isModel = model.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || isDigit($0) }
        let digits = rest.prefix(while: isDigit)
        guard isModel, let version = UInt32(String(Substring(digits))) else { return nil }
        self.init(model: String(Substring(model)), version: version)
        guard self.name == name else { return nil }
    }
}

private func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }
