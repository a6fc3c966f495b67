import Glibc
import Platform
package import Reactor

/// Reports changes of files with inotify on the directories that contain the files, once there are no further changes.
///
/// Directories are watched because most editors write a new file and rename it over the old one, and a watch on a file
/// would stay with the old inode. Neither the files nor their directories need to exist. If a path contains symbolic
/// links, a changed link is a change.
///
/// Successive changes, as when an editor saves, are reported by one call: `settleTime` after the last change, but at most
/// `maximumDelay` after the first. The watches are renewed before the call, so later changes are reported again.
///
/// Limitation: moving a directory together with its parent is not noticed.
@ReactorActor
package final class FileWatch {
    static let settleTime: Int64 = 200_000_000
    package static let maximumDelay: Int64 = 2_000_000_000

    /// The changes in a directory that are reported.
    private struct WatchedDirectory {
        var names: Set<String> = []
        /// True if changes of subdirectories, and of files with one of the suffixes, are reported.
        var isSearched = false
        /// True if some of the names are files whose contents are watched. If not, writes are not watched, because a
        /// database in a directory that is only part of a path would otherwise wake the process with each write.
        var hasFiles = false

        var events: UInt32 { hasFiles || isSearched ? FileWatch.structure | FileWatch.content : FileWatch.structure }
    }

    private let loop: EventLoop
    private let suffixes: [String]
    private let changed: @ReactorActor () -> Void
    private let descriptor: Int32
    /// The `errno` of `inotify_init1`, if there is no descriptor.
    private let failure: Int32
    private var watch: Watch?
    private var files: Set<String> = []
    private var directories: Set<String> = []
    private var watchedDirectories: [Int32: WatchedDirectory] = [:]
    private var firstChange: Int64?

    private lazy var timer = loop.timer { [weak self] in self?.quietAgain() }

    /// - Parameter suffixes: the suffixes of the file names that are reported in `directories`.
    package init(
        loop: EventLoop, suffixes: [String] = [".yaml", ".yml"], _ changed: @escaping @ReactorActor () -> Void
    ) {
        self.loop = loop
        self.suffixes = suffixes
        self.changed = changed
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        failure = descriptor < 0 ? errno : 0
        if descriptor >= 0 { watch = loop.watch(descriptor, .read) { [weak self] _ in self?.read() } }
    }

    /// Replaces the watched files and directories. A change that was noticed before is still reported.
    ///
    /// - Parameters:
    ///   - files: absolute paths.
    ///   - directories: absolute paths of directories in which all files with one of the suffixes are watched, as for
    ///     includes with a pattern.
    /// - Returns: a sentence if some of them cannot be watched.
    @discardableResult
    package func watch(files: Set<String>, directories: Set<String> = []) -> String? {
        self.files = files
        self.directories = directories
        return arm()
    }

    /// Must be called before the last reference is dropped.
    package func stop() {
        timer.cancel()
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        watchedDirectories = [:]
        close(descriptor)
    }

    // MARK: Watches

    private func arm() -> String? {
        guard watch != nil else { return "changes of files are not noticed: \(systemMessage(failure))" }
        var wanted: [String: WatchedDirectory] = [:]
        for path in files.sorted() {
            for step in PathResolution(path).steps {
                wanted[step.directory, default: WatchedDirectory()].names.insert(step.name)
                wanted[step.directory]?.hasFiles = true
            }
        }
        for path in directories.sorted() {
            let steps = PathResolution(path)
            for step in steps.steps { wanted[step.directory, default: WatchedDirectory()].names.insert(step.name) }
            if let end = steps.end { wanted[end, default: WatchedDirectory()].isSearched = true }
        }
        var sentence: String?
        var armed: [Int32: WatchedDirectory] = [:]
        // Two paths may lead to the same directory, and inotify then keeps the mask of the last call. It is called with
        // the smaller mask first, because `content` is added to `structure`.
        for (directory, interest) in wanted.sorted(by: { $0.value.events < $1.value.events }) {
            let number = inotify_add_watch(descriptor, directory, interest.events)
            guard number >= 0 else {
                // The directory was removed after `wanted` was computed. The watch of its parent reports this.
                if errno != ENOENT { sentence = "changes in \(directory) are not noticed: \(systemMessage(errno))" }
                continue
            }
            var merged = armed[number] ?? WatchedDirectory()
            merged.names.formUnion(interest.names)
            merged.isSearched = merged.isSearched || interest.isSearched
            merged.hasFiles = merged.hasFiles || interest.hasFiles
            armed[number] = merged
        }
        for number in watchedDirectories.keys where armed[number] == nil { inotify_rm_watch(descriptor, number) }
        watchedDirectories = armed
        return sentence
    }

    private nonisolated static let structure = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
    private nonisolated static let content = UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)

    // MARK: Events

    private func read() {
        var isRelevant = false
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return }
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            // A `struct inotify_event`: watch, mask, cookie, length of the name; then the name, padded with zeros
            // (inotify(7)).
            while rest.count >= 16 {
                let length = Int(rest.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                guard length <= rest.count - 16 else { return }
                let name = String(decoding: rest[16..<16 + length].prefix { $0 != 0 }, as: UTF8.self)
                isRelevant =
                    self.isRelevant(
                        name, in: rest.loadUnaligned(as: Int32.self),
                        rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) || isRelevant
                rest = UnsafeRawBufferPointer(rebasing: rest[(16 + length)...])
            }
        }
        guard isRelevant else { return }
        let now = loop.nanosecondsSinceBoot
        let first = firstChange ?? now
        firstChange = first
        timer.set(at: min(now + FileWatch.settleTime, first + FileWatch.maximumDelay))
    }

    private func isRelevant(_ name: String, in number: Int32, _ mask: UInt32) -> Bool {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        // Unknown watches include those that `arm` has removed, for which the kernel still sends IN_IGNORED.
        guard let interest = watchedDirectories[number] else { return false }
        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 { return true }
        if interest.names.contains(name) { return true }
        guard interest.isSearched, !name.hasPrefix(".") else { return false }
        return suffixes.contains { name.hasSuffix($0) } || mask & UInt32(IN_ISDIR) != 0
    }

    private func quietAgain() {
        firstChange = nil
        _ = arm()
        changed()
    }
}
