import Glibc

/// The system's message for an error number.
package func systemMessage(_ errno: Int32) -> String { String(cString: strerror(errno)) }
