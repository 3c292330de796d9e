"""The sync client is the async one without its waiting: made again here and compared. `python scripts/unasync.py` writes it."""

from __future__ import annotations

import unasync


def test_the_sync_client_is_made_of_the_async_one() -> None:
    assert unasync.main(["--check"]) == 0


def test_nothing_async_is_left() -> None:
    for path, text in unasync.generated().items():
        code = [line for line in text.split("\n") if not line.startswith("#")]
        assert [line for line in code if "async" in line.lower() or "await" in line] == [], path


def test_marks_are_obeyed() -> None:
    source = (
        "from typing import Awaitable, Callable, List\n\n"
        "# unasync: begin of what is async only\nclass AsyncOnly:\n    pass\n\n\n# unasync: end of what is async only\n"
        "async def async_raw(get: Callable[[List[int]], Awaitable[List[AsyncThing]]]) -> AsyncPaginator[int]:\n"
        '    """Await `async for` it."""\n'
        "    return AsyncPaginator(await get([1]))  # sync: return get([1])\n"
    )
    assert unasync.unasync(source, "_async/x.py").split("\n", 1)[1] == (
        "from typing import Callable, List\n\n"
        "def sync_raw(get: Callable[[List[int]], List[Thing]]) -> Page[int]:\n"
        '    """Await `for` it."""\n'
        "    return get([1])\n"
    )
