import Glibc

/// The system's own words for one of its errors.
func describe(_ errno: Int32) -> String { String(cString: strerror(errno)) }
