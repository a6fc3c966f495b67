"""A record of events in order, which can be waited for."""
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Failure(Exception):
    """A failure, with a sentence for people."""


@asynccontextmanager
async def limit(seconds: float, what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Failure(f'{what}: not within {seconds:g} s') from None


def equal(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise Failure(f'{what}: {found}, expected {expected}')


class Tape[Item]:
    def __init__(self) -> None:
        self.items: list[Item] = []
        self._news = asyncio.Event()

    def append(self, item: Item) -> None:
        self.items.append(item)
        news, self._news = self._news, asyncio.Event()
        news.set()

    @property
    def mark(self) -> int:
        """A mark of the present moment, for `since` and `wait`."""
        return len(self.items)

    def since(self, mark: int, matches: Callable[[Item], bool] = lambda _: True) -> list[Item]:
        return [item for item in self.items[mark:] if matches(item)]

    async def until[Value](self, look: Callable[[], Value | None], what: str, within: float = 10) -> Value:
        """Calls the function after each event until it returns a result."""
        async with limit(within, what):
            while not (value := look()):
                await self._news.wait()
        return value

    async def wait(self, matches: Callable[[Item], bool], what: str, *, since: int, within: float = 10) -> Item:
        """Waits for the first matching item after a mark."""
        [item] = await self.until(lambda: self.since(since, matches)[:1], what, within)
        return item
