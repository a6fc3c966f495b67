import ButtonModel
import Testing

@Suite("Battery")
struct BatteryTests {
    @Test("a battery is low below 2650 mV, is reported once, and is good again only above 2750 mV")
    func alarm() {
        var alarm = BatteryAlarm()
        let readings = [2660, 2650, 2649, 2700, 2640, 2750, 2600, 2751, 2700, 2649]
        let told = readings.filter { alarm.update(millivolts: $0) }
        #expect(told == [2649, 2649])
        var states: [Bool] = []
        alarm = BatteryAlarm()
        for reading in readings {
            _ = alarm.update(millivolts: reading)
            states.append(alarm.isLow)
        }
        #expect(states == [false, false, true, true, true, true, true, false, false, true])
    }
}
