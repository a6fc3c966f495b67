"""A broker, Home Assistant, tryckd and a button, and operations on all of them."""
import asyncio
import itertools
import struct
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import automations
from bridge import PROJECT, Air, Bridge
from broker import Broker, Listener, Message
from home_assistant import HomeAssistant
from tape import Failure, equal, limit


@dataclass(frozen=True)
class Button:
    name: str
    # Behind a virtual controller it is a random static one: the two highest bits are set.
    address: str
    model: str

    @property
    def id(self) -> str:
        return self.address.replace(':', '').lower()


KITCHEN = Button('kitchen', 'C0:E4:DA:00:00:01', 'flic2')
SOFA = Button('sofa', 'C0:E4:DA:00:00:02', 'duo')
DESK = Button('desk', 'C0:E4:DA:00:00:03', 'twist')

# The actions of a click.
CLICK = ('button_short_press', 'guarded', 'blueprint click')

# If rules use a button, it reports the gestures that they use.
RULES = f"""\
version: 1
buttons:
  kitchen: {{address: "{KITCHEN.address}"}}
rules:
  - id: thrice
    triggers: {{button: kitchen, clicks: 3}}
    actions:
      - publish: {{topic: acceptance/rule, payload: thrice}}
  - id: others
    triggers: {{button: kitchen, event: [click, double_click, hold, hold_release]}}
    actions:
      - log: "{{{{ trigger.event }}}}"
"""


def firmware(words: int = 200) -> bytes:
    """An image that a simulated button accepts: its last word is the sum of the others."""
    body = bytes([0x5A]) * (8 + 4 * (words - 1))
    return body + struct.pack('<I', sum(struct.unpack(f'<{len(body) // 4}I', body)) & 0xFFFFFFFF)


class House:
    bridge: Bridge
    neighbour: Bridge
    """A second bridge with its own base topic, if a point has started it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.broker = Broker(directory)
        self.heard = Listener(self.broker.port)
        self.home = HomeAssistant(directory / 'homeassistant', PROJECT / 'deploy/homeassistant/blueprints')
        self.air = Air(directory)
        self._ends = AsyncExitStack()
        self._echoes = itertools.count(1)

    async def start(self) -> None:
        self._ends.push_async_callback(self.broker.end)
        await self.broker.start()
        self._ends.callback(self.heard.end)
        await self.heard.start()
        self._ends.push_async_callback(self.home.close)
        await self.home.start()
        await self.home.add_mqtt(self.broker.port)
        await self.home.add_automation('echo', automations.echo())
        await self.broker.subscribed(automations.ECHO)

    async def end(self) -> None:
        await self._ends.aclose()

    async def add_bridge(self, base: str, transport: str, **details: Any) -> Bridge:
        bridge = Bridge(self.directory / base, self.broker, transport, base=base, **details)
        self._ends.push_async_callback(bridge.end)
        images = bridge.state_directory / 'firmware'
        images.mkdir()
        for model in ('flic2', 'duo', 'twist'):
            (images / f'{model}-11.bin').write_bytes(firmware())
        await bridge.start()
        return bridge

    async def add_air(self) -> None:
        self._ends.push_async_callback(self.air.end)
        await self.air.start()
        await self.add_button(KITCHEN)

    async def add_button(self, button: Button) -> None:
        """Puts the button into public mode."""
        await self.air.add(button.name, {
            'model': button.model, 'address': button.address, 'firmware': 10, 'battery': 2940})

    async def pair(self, button: Button) -> None:
        """Pairs with the switch of the bridge, and waits until Home Assistant has all entities of the button."""
        switch = await self.bridge_entity('permit_join')
        # A service call on an unavailable entity is ignored silently.
        await self.home.until_known(switch)
        await self.home.call('switch.turn_on', switch)
        await self.announced(self.node(button))
        await self.bridge.ready(button.id)

    def tell(self) -> None:
        """Logs that help to understand a failure."""
        for name, log in (('Home Assistant', self.home.log), ('tryckd', self.bridge.log)):
            print(f'--- the end of what {name} said', *log[-30:], sep='\n', flush=True)

    # --- Names

    def topic(self, name: str = '', button: Button = KITCHEN) -> str:
        return f'{self.bridge.base}/{button.id}' + (f'/{name}' if name else '')

    def node(self, button: Button = KITCHEN) -> str:
        return f'{self.bridge.base}_{button.id}'

    def config_topic(self, button: Button = KITCHEN) -> str:
        return f'homeassistant/device/{self.node(button)}/config'

    async def entities(self, button: Button = KITCHEN) -> dict[str, dict[str, Any]]:
        """The entities of the button, by component."""
        return await self.home.entities(f'{self.node(button)}_')

    async def entity(self, component: str, button: Button = KITCHEN) -> str:
        entities = await self.entities(button)
        if component not in entities:
            raise Failure(f'{button.name} has no {component}; it has {", ".join(sorted(entities))}')
        return entities[component]['entity_id']

    async def bridge_entity(self, component: str) -> str:
        entities = await self.home.entities(f'{self.bridge.base}_bridge_')
        for unique_id, entry in entities.items():
            if unique_id.partition('_')[2] == component:
                return entry['entity_id']
        raise Failure(f'the bridge has no {component}; it has {", ".join(sorted(entities))}')

    # --- Presses

    async def press(self, press: str, button: Button = KITCHEN) -> None:
        if press.startswith('clicks_'):
            # Pauses separate presses of different gestures.
            for movement in ('down', 'up') * int(press.removeprefix('clicks_')):
                await self.air.press(button.name, movement)
                await asyncio.sleep(0.06)
        elif 'held_turn_' in press:
            part, _, hundredths = press.partition('held_turn_')
            mark = self.heard.tape.mark
            await self.air.press(button.name, f'{part}down')
            # Turned this late after the press it is believed at once, and it is no hold yet.
            await asyncio.sleep(0.6)
            await self.air.press(button.name, f'turn_{hundredths}')
            await self.heard.tape.wait(
                lambda message: message.topic.startswith(self.topic('', button)) and '"rotate_' in message.payload,
                f'a turn after {press}', since=mark)
            await self.air.press(button.name, f'{part}up')
        else:
            await self.air.press(button.name, press)

    async def announced(self, node: str, component: str = 'firmware') -> None:
        """Waits until Home Assistant has all announced entities of a device, including this one.

        Which firmware lies there may be found out a moment later than a button; the first entity of its kind takes Home
        Assistant longer.
        """
        topic = f'homeassistant/device/{node}/config'
        async with limit(60, f'Home Assistant has all of {node}'):
            while True:
                said = self.heard.tape.since(0, lambda message: message.topic == topic and message.payload != '')
                components = said[-1].json['components'] if said else {}
                entities = {key for key, each in components.items() if 'unique_id' in each}
                if component in entities and entities <= (await self.home.entities(f'{node}_')).keys():
                    break
                await asyncio.sleep(0.05)
        await self.settled()

    async def settled(self, within: float = 20) -> None:
        """Waits until Home Assistant has processed all earlier messages."""
        mark = self.heard.tape.mark
        async with limit(within, 'Home Assistant has dealt with everything'):
            # Home Assistant does not receive messages that are published while it connects.
            while True:
                answer = f'echo {next(self._echoes)}'
                self.heard.publish(automations.ECHO, answer)
                try:
                    await self.heard.wait(automations.RAN, since=mark, payload=answer, within=1)
                    break
                except Failure:
                    continue
        await self.home.caught_up()

    def runs(self, since: int) -> Counter[str]:
        """The automations that ran, without echoes."""
        messages = self.heard.tape.since(since, lambda message: message.topic == automations.RAN)
        return Counter(message.payload for message in messages if not message.payload.startswith('echo '))

    def events(self, since: int, topic: str = '') -> list[Message]:
        return self.heard.tape.since(since, lambda message: message.topic == (topic or self.topic('event')))

    async def clicked(self) -> None:
        await self.pressed('click', 'click', CLICK)

    async def pressed(
        self, press: str, expected: str, runs: Iterable[str], button: Button = KITCHEN, topic: str = 'event'
    ) -> None:
        """Presses, waits for the event, and checks that exactly these automations ran once each."""
        mark, topic = self.heard.tape.mark, self.topic(topic, button)
        await self.press(press, button)
        await self.heard.tape.wait(
            lambda message: message.topic == topic and message.json['event_type'] == expected,
            f'{expected} after {press}', since=mark)
        await self.settled()
        equal(self.runs(mark), Counter(runs), f'the automations that ran for {press}')
