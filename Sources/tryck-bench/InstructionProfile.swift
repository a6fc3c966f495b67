import Glibc
import Platform

/// The instructions that one thread of a process executed between two moments, from a file of callgrind that was made with
/// `--dump-instr=yes`, `--compress-pos=no` and `--compress-strings=no`.
struct InstructionProfile {
    /// The number of instructions that were executed.
    private(set) var instructions = 0
    /// The number of 64-octet lines of code that they lie in, which is what a cold cache has to load.
    private(set) var codeLines = 0
    /// The calls of each function, by its mangled name.
    private(set) var calls: [Substring: Int] = [:]
    /// The instructions of each function without those of the functions that it calls, by its mangled name.
    private(set) var ownInstructions: [Substring: Int] = [:]

    /// - Parameter text: the contents of the file. Lines that are not understood are skipped.
    init(_ text: String) {
        var lines: Set<UInt64> = []
        var function: Substring = ""
        var isCost = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("fn=") {
                function = Self.name(line.dropFirst(3))
            } else if line.hasPrefix("cfn=") {
                calls[Self.name(line.dropFirst(4)), default: 0] += 0
                called = Self.name(line.dropFirst(4))
            } else if line.hasPrefix("calls=") {
                let count = line.dropFirst(6).prefix { $0 != " " }
                calls[called, default: 0] += Int(count) ?? 0
                // The next line is the cost of the calls, which the called function has, too.
                isCost = true
            } else if line.hasPrefix("0x") {
                guard !isCost else {
                    isCost = false
                    continue
                }
                let columns = line.split(separator: " ")
                guard columns.count == 3, let count = Int(columns[2]),
                    let address = UInt64(columns[0].dropFirst(2), radix: 16)
                else { continue }
                instructions += count
                ownInstructions[function, default: 0] += count
                lines.insert(address >> 6)
            }
        }
        codeLines = lines.count
    }

    private var called: Substring = ""

    /// The name without the depth of a recursion, which callgrind appends after an apostrophe.
    private static func name(_ text: Substring) -> Substring { text.prefix { $0 != "'" } }

    /// The number of calls of the functions with these names.
    func callCount(of names: Set<String>) -> Int {
        calls.reduce(0) { names.contains(String(Self.plain($1.key))) ? $0 + $1.value : $0 }
    }

    /// The name without the version of a symbol, which the C library appends after `@@`.
    private static func plain(_ name: Substring) -> Substring { name.prefix { $0 != "@" } }

    /// Allocations of memory by the C library's functions.
    var allocations: Int { callCount(of: ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"]) }

    /// System calls that a press must not wait for: those of the disk, and the creation of threads.
    var slowCalls: Int {
        callCount(of: [
            "pwrite64", "pwrite", "pread64", "pread", "fsync", "fdatasync", "sync_file_range", "open", "open64",
            "openat",
            "ftruncate64", "rename", "unlink", "clone", "clone3", "pthread_create", "posix_spawn", "fork", "vfork",
        ])
    }

    /// System calls, without the clock, which is no system call outside valgrind.
    var systemCalls: Int {
        callCount(of: [
            "epoll_wait", "epoll_ctl", "timerfd_settime", "ioctl", "recv", "recvmsg", "getsockopt", "setsockopt",
            "madvise", "futex", "select", "nanosleep", "clock_nanosleep", "sendmsg", "writev", "lseek64", "close",
            "stat64",
            "fstat64", "mmap", "munmap", "sched_yield", "syscall", "poll", "fcntl", "fcntl64", "eventfd_write",
        ]) + slowCalls
    }
}
