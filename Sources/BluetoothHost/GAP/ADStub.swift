import ButtonModel
public struct ADStructure { public static func serviceUUIDs(in data: [UInt8]) -> [UUID] {[]}
 public static func manufacturerData(in data: [UInt8]) -> (company: UInt16, octets: [UInt8])? {nil} }
