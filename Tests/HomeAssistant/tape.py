"""What happened, in order, and waiting for what is still to come."""
import asyncio
from collections.abc import Callable


class Failure(Exception):
    """Something is not as it should be; a sentence for people."""


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
        """Now, for `since` and `wait`."""
        return len(self.items)

    def since(self, mark: int, matches: Callable[[Item], bool] = lambda _: True) -> list[Item]:
        return [item for item in self.items[mark:] if matches(item)]

    async def until[Value](self, look: Callable[[], Value | None], what: str, within: float = 10) -> Value:
        """Looks after everything that happens, until there is something to see."""
        try:
            async with asyncio.timeout(within):
                while not (value := look()):
                    await self._news.wait()
        except TimeoutError:
            raise Failure(f'{what}: not within {within:g} s') from None
        return value

    async def wait(self, matches: Callable[[Item], bool], what: str, *, since: int, within: float = 10) -> Item:
        """The first item after a mark that matches."""
        [item] = await self.until(lambda: self.since(since, matches)[:1], what, within)
        return item
