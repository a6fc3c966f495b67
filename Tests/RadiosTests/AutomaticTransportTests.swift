import Radios
import Testing

@Suite("The radio auto uses BlueZ where it has a powered adapter, else an adapter of its own")
struct AutomaticTransportTests {
    private static let id = BusCallID(rawValue: 0)

    @Test("a powered adapter of BlueZ is used, and then BlueZ is used for good")
    func powered() {
        var automatic = AutomaticTransport()
        #expect(automatic.opening() == .ask)
        #expect(automatic.reported(.objects(Self.id, BlueZTalk.objects())) == .useBlueZ)
        #expect(automatic.opening() == .useBlueZ)
    }

    private static let answers: [BusInput] = [
        .answered(id),
        .refused(id, BusError(name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "")),
    ]

    @Test(
        "where bluetoothd does not run, the program opens an adapter, and asks BlueZ again the next time",
        arguments: answers)
    func absent(answer: BusInput) {
        var automatic = AutomaticTransport()
        #expect(automatic.reported(answer) == .useAdapter)
        #expect(automatic.opening() == .ask)
    }

    private static let withoutPower: [BusInput] = [
        .objects(id, BlueZTalk.objects(isPowered: false)), .objects(id, [:]),
    ]

    @Test("bluetoothd gets five seconds to power an adapter, until the program has opened one", arguments: withoutPower)
    func unpowered(answer: BusInput) {
        var automatic = AutomaticTransport()
        #expect(automatic.opening() == .ask)
        #expect(automatic.reported(answer) == .wait)
        #expect(automatic.reported(.interfacesRemoved(BlueZTalk.adapter, [])) == nil)
        #expect(automatic.waited() == .useAdapter)
        #expect(automatic.opening() == .ask)
        #expect(automatic.reported(answer) == .wait)
        #expect(automatic.reported(.ownerLost) == .useAdapter)
        automatic.adapterOpened()
        #expect(automatic.opening() == .ask)
        #expect(automatic.reported(answer) == .useAdapter)
    }

    @Test("an adapter that bluetoothd powers in time is shared", arguments: [true, false])
    func poweredLater(isNew: Bool) {
        var automatic = AutomaticTransport()
        let powered = BlueZTalk.objects()[BlueZTalk.adapter] ?? [:]
        let inputs: [BusInput] =
            isNew
            ? [.interfacesAdded(BlueZTalk.adapter, powered)]
            : [
                .interfacesAdded(BlueZTalk.adapter, [:]),
                .propertiesChanged(
                    BlueZTalk.adapter, interface: "org.bluez.Adapter1", ["Powered": .bool(false)], invalidated: []),
                .propertiesChanged(
                    BlueZTalk.adapter, interface: "org.bluez.Adapter1", ["Powered": .bool(true)], invalidated: []),
            ]
        #expect(automatic.reported(.objects(Self.id, [:])) == .wait)
        for input in inputs.dropLast() { #expect(automatic.reported(input) == nil) }
        #expect(inputs.last.flatMap { automatic.reported($0) } == .useBlueZ)
        #expect(automatic.opening() == .useBlueZ)
    }

    @Test("signals before the answer decide nothing; a bus that fails means an adapter of our own")
    func failure() {
        var automatic = AutomaticTransport()
        #expect(automatic.reported(.interfacesAdded(BlueZTalk.adapter, [:])) == nil)
        #expect(automatic.reported(.ownerLost) == nil)
        #expect(automatic.failed() == .useAdapter)
        #expect(automatic.opening() == .ask)
    }
}
