import CLinux

/// The memory that only the start of the program needed.
package enum StartMemory {
    /// Gives free memory and the unused part of the stack back to the system, and forgets the pages of code and constants that have
    /// been used.
    ///
    /// The kernel maps 64 KiB around each page of a file that is used, and most of the code of a start is never executed again.
    /// What is used later is mapped again from the page cache. This takes less than a millisecond.
    package static func release() {
        linux_trim_heap()
        linux_trim_stack()
        linux_forget_code()
    }
}
