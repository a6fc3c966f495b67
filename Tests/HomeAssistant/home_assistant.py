"""A real Home Assistant in a process of its own, used like its frontend does: HTTP once, then one WebSocket."""
import asyncio
import importlib.util
import itertools
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, ClientError

from program import Program, free_port
from tape import Failure, Tape, equal, limit

CONFIGURATION = """\
homeassistant: {{name: Acceptance}}
http: {{server_host: 127.0.0.1, server_port: {port}}}
logger: {{default: warning}}
automation: !include automations.yaml
mqtt:
  light: {{name: Desk lamp, unique_id: lamp, schema: json, brightness: true, command_topic: acceptance/lamp}}
"""

Event = dict[str, Any]


def label(trigger: dict[str, Any]) -> str:
    """The text of a device trigger in the frontend: its translation if there is one, else the announced text."""
    package = importlib.util.find_spec('homeassistant')
    assert package and package.origin
    file = Path(package.origin).with_name('components') / 'mqtt/translations/en.json'
    words = json.loads(file.read_text())['device_automation']
    if kind := words['trigger_type'].get(trigger['type']):
        return kind.format(subtype=words['trigger_subtype'].get(trigger['subtype'], trigger['subtype']))
    return f'"{trigger["subtype"]}" {trigger["type"]}'


class HomeAssistant:
    def __init__(self, directory: Path, blueprints: Path) -> None:
        self.events = Tape[Event]()
        self.states: dict[str, dict[str, Any]] = {}
        self._directory = directory
        self._port = free_port()
        self._url = f'http://127.0.0.1:{self._port}'
        self._program: Program | None = None
        self._earlier_log: list[str] = []
        self._session = ClientSession()
        self._token = ''
        self._socket: ClientWebSocketResponse | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)
        directory.mkdir()
        (directory / 'configuration.yaml').write_text(CONFIGURATION.format(port=self._port))
        (directory / 'automations.yaml').write_text('[]\n')
        # The files are copied, because Home Assistant adds blueprints of its own.
        shutil.copytree(blueprints, directory / 'blueprints')

    # --- The program

    async def start(self) -> None:
        # All packages are installed already, so nothing is downloaded during a test.
        self._program = await Program.start(
            'Home Assistant', Path(sys.executable).with_name('hass'), '--config', self._directory, '--skip-pip',
            directory=self._directory)
        await self._listens()
        if not self._token:
            await self._log_in()
        await self._connect()
        await self._runs()

    async def end(self) -> None:
        if self._reading:
            self._reading.cancel()
        if self._socket:
            await self._socket.close()
        if self._program:
            await self._program.end(within=60)

    async def restart(self) -> None:
        await self.end()
        self._earlier_log = self.log
        self.states.clear()
        await self.start()

    async def close(self) -> None:
        try:
            await self.end()
        finally:
            await self._session.close()

    @property
    def log(self) -> list[str]:
        """The log of this start and of earlier ones."""
        return self._earlier_log + (self._program.lines.items if self._program else [])

    @property
    def complaints(self) -> list[str]:
        """Warnings and errors in its log about MQTT, automations or requests."""
        about = re.compile(
            r'(WARNING|ERROR|CRITICAL) .*\[homeassistant\.(components\.(mqtt|automation|websocket_api)|helpers)\b')
        return [line for line in self.log if about.search(line)]

    async def _listens(self) -> None:
        """Polls Home Assistant until it answers."""
        async with limit(120, 'Home Assistant answers'):
            while True:
                try:
                    async with self._session.get(f'{self._url}/manifest.json'):
                        return
                except ClientError:
                    await asyncio.sleep(0.2)

    async def _runs(self) -> None:
        """Waits until the setup is finished, because entities that are added earlier are set up incompletely."""
        async with limit(120, 'Home Assistant runs'):
            while (await self.ask('get_config'))['state'] != 'RUNNING':
                await asyncio.sleep(0.1)

    # --- HTTP

    async def post(self, path: str, content: dict[str, Any], *, form: bool = False) -> Any:
        headers = {'Authorization': f'Bearer {self._token}'} if self._token else {}
        body: dict[str, Any] = {'data' if form else 'json': content}
        async with self._session.post(f'{self._url}{path}', headers=headers, **body) as answer:
            if answer.status >= 400:
                raise Failure(f'Home Assistant refuses {path}: {answer.status} {await answer.text()}')
            return await answer.json()

    async def _log_in(self) -> None:
        """Creates the first user like the welcome page; the later pages would download data."""
        client = f'{self._url}/'
        welcome = await self.post('/api/onboarding/users', {
            'client_id': client, 'name': 'Test', 'username': 'test', 'password': 'test', 'language': 'en'})
        tokens = await self.post('/auth/token', {
            'client_id': client, 'grant_type': 'authorization_code', 'code': welcome['auth_code']}, form=True)
        self._token = tokens['access_token']

    async def add_mqtt(self, port: int) -> None:
        flow = await self.post('/api/config/config_entries/flow', {'handler': 'mqtt'})
        result = await self.post(
            f'/api/config/config_entries/flow/{flow["flow_id"]}', {'broker': '127.0.0.1', 'port': port})
        if result.get('type') != 'create_entry':
            raise Failure(f'Home Assistant does not take the broker: {result}')

    async def add_automation(self, name: str, automation: dict[str, Any]) -> None:
        await self.post(f'/api/config/automation/config/{name}', {'alias': name, **automation})

    async def remove_automation(self, name: str) -> None:
        path = f'{self._url}/api/config/automation/config/{name}'
        async with self._session.delete(path, headers={'Authorization': f'Bearer {self._token}'}) as answer:
            if answer.status >= 400:
                raise Failure(f'Home Assistant does not remove {name}: {answer.status}')

    # --- The WebSocket

    async def _connect(self) -> None:
        self._socket = await self._session.ws_connect(f'{self._url}/api/websocket', max_msg_size=1 << 24)
        await self._socket.receive_json()
        await self._socket.send_json({'type': 'auth', 'access_token': self._token})
        greeting = await self._socket.receive_json()
        if greeting['type'] != 'auth_ok':
            raise Failure(f'Home Assistant does not let us in: {greeting}')
        self._reading = asyncio.create_task(self._read(self._socket))
        await self.ask('subscribe_events')
        for state in await self.ask('get_states'):
            self.states.setdefault(state['entity_id'], state)

    async def _read(self, socket: ClientWebSocketResponse) -> None:
        async for message in socket:
            content = message.json()
            if content['type'] == 'event':
                self._happened(content['event'])
            elif (answer := self._answers.pop(content['id'], None)) and not answer.done():
                answer.set_result(content)

    def _happened(self, event: Event) -> None:
        if event['event_type'] == 'state_changed':
            entity, state = event['data']['entity_id'], event['data']['new_state']
            if state:
                self.states[entity] = state
            else:
                self.states.pop(entity, None)
        self.events.append(event)

    async def ask(self, kind: str, **content: Any) -> Any:
        assert self._socket
        identifier = next(self._ids)
        self._answers[identifier] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({'id': identifier, 'type': kind, **content})
        async with limit(20, f'Home Assistant answers {kind}'):
            answer = await self._answers[identifier]
        if not answer['success']:
            raise Failure(f'Home Assistant refuses {kind}: {answer["error"]["message"]}')
        return answer['result']

    async def caught_up(self) -> None:
        """Waits for an answer, before which all earlier events have arrived in `events` and `states`."""
        await self.ask('auth/current_user')

    async def call(self, service: str, entity: str, **data: Any) -> None:
        domain, name = service.split('.')
        await self.ask('call_service', domain=domain, service=name, service_data=data, target={'entity_id': entity})

    # --- Registries and states

    async def entities(self, unique_id_prefix: str) -> dict[str, dict[str, Any]]:
        """The entries of the registry by their ids without the prefix, including disabled entries."""
        entries = await self.ask('config/entity_registry/list')
        return {
            entry['unique_id'].removeprefix(unique_id_prefix): entry for entry in entries
            if entry['platform'] == 'mqtt' and entry['unique_id'].startswith(unique_id_prefix)}

    async def devices(self, identifier: str) -> list[dict[str, Any]]:
        devices = await self.ask('config/device_registry/list')
        return [device for device in devices if ['mqtt', identifier] in device['identifiers']]

    async def device(self, identifier: str) -> dict[str, Any]:
        devices = await self.devices(identifier)
        equal(len(devices), 1, f'devices called {identifier}')
        return devices[0]

    async def triggers(self, device: str) -> list[dict[str, Any]]:
        triggers = await self.ask('device_automation/trigger/list', device_id=device)
        return [trigger for trigger in triggers if trigger['domain'] == 'mqtt']

    async def until_state(self, entity: str, state: str, within: float = 10) -> dict[str, Any]:
        return await self._until(entity, f'is {state}', lambda known: known['state'] == state, within)

    async def until_known(self, entity: str, within: float = 10) -> None:
        await self._until(
            entity, 'is known', lambda known: known['state'] not in ('unavailable', 'unknown'), within)

    async def until_attribute(self, entity: str, name: str, value: Any, within: float = 10) -> None:
        await self._until(entity, f'has {name} {value}', lambda known: known['attributes'].get(name) == value, within)

    async def _until(
        self, entity: str, what: str, matches: Callable[[dict[str, Any]], bool], within: float
    ) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            known = self.states.get(entity)
            return known if known and matches(known) else None

        try:
            return await self.events.until(look, f'{entity} {what}', within)
        except Failure as failure:
            known = self.states.get(entity)
            found = f'{known["state"]} {known["attributes"]}' if known else 'not there'
            raise Failure(f'{failure}; it is {found}') from None

    def changes(self, entity: str, since: int) -> list[dict[str, Any]]:
        """The states an entity was given since a mark."""
        return [
            event['data']['new_state'] for event in self.events.since(since)
            if event['event_type'] == 'state_changed' and event['data']['entity_id'] == entity]
