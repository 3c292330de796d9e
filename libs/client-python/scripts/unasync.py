"""Makes the sync client out of the async one: `python scripts/unasync.py` writes src/millwright/_sync, `--check` compares.

Words of async are dropped or renamed token by token. Two marks in comments say what a rule cannot know:
`# sync: <code>` behind a line gives the line that stands there instead, and what stands between `# unasync: begin …`
and `# unasync: end …` is left out. Modules in BY_HAND are written for both clients.
"""

from __future__ import annotations

import io
import re
import sys
import token
import tokenize
from pathlib import Path
from typing import Dict, List

SOURCES = Path(__file__).resolve().parent.parent / "src" / "millwright"
BY_HAND = frozenset(["scopes.py"])

DROPPED = frozenset(["async", "await"])
RENAMED = {
    "AsyncByteStream": "SyncByteStream",
    "AsyncPaginator": "Page",
    "async_raw": "sync_raw",
    "async_raw_page": "sync_raw_page",
    "async_streamed": "sync_streamed",
    "async_streamed_page": "sync_streamed_page",
    "StopAsyncIteration": "StopIteration",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aiter_text": "iter_text",
    "aread": "read",
}
#: Taken away with its brackets: what is awaited there is at hand here.
UNWRAPPED = "Awaitable"
PROSE = (
    (re.compile(r"\bAsync(?=[A-Z])"), ""),
    (re.compile(r"\basync_(?=raw|streamed)"), "sync_"),
    (re.compile(r"`?\(?`?\basync for\b"), lambda found: found[0].replace("async ", "")),
    (re.compile(r"\bawait "), ""),
    (re.compile(r"\ban `async (?=with)"), "a `"),
    (re.compile(r"\basync (?=def|with|for)"), ""),
    (re.compile(r"asyncio and trio"), "programs that wait for each call"),
)

_BLOCK = re.compile(r"^# unasync: begin .*?^# unasync: end [^\n]*\n+", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^( *).*?# sync: (.*)$", re.MULTILINE)


def generated() -> Dict[Path, str]:
    """The text of each module of the sync client by its path."""
    files: Dict[Path, str] = {}
    for path in sorted((SOURCES / "_async").rglob("*.py")):
        place = SOURCES / "_sync" / path.relative_to(SOURCES / "_async")
        if path.name not in BY_HAND:
            files[place] = unasync(path.read_text("utf-8"), path.relative_to(SOURCES).as_posix())
    return files


def unasync(text: str, name: str) -> str:
    """The sync twin of a module."""
    text = _LINE.sub(r"\1\2", _BLOCK.sub("", text))
    text = _tokens_changed(text)
    head = f"# Generated from {name} by scripts/unasync.py; do not edit.\n"
    return head + _without_unused_names(text)


def _tokens_changed(text: str) -> str:
    lines = text.splitlines(keepends=True)
    cuts: List[tuple[int, int, int, int, str]] = []
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for index, part in enumerate(tokens):
        (row, begin), (end_row, end) = part.start, part.end
        following = tokens[index + 1] if index + 1 < len(tokens) else part
        if part.type in (token.NAME, getattr(token, "ASYNC", -1), getattr(token, "AWAIT", -1)):
            if part.string in DROPPED:
                cuts.append((row, begin, row, following.start[1], ""))
            elif part.string == UNWRAPPED and following.string == "[":
                cuts.append((row, begin, following.end[0], following.end[1], ""))
                closing = _closing(tokens, index + 1)
                cuts.append((*closing.start, *closing.end, ""))
            else:
                cuts.append((row, begin, end_row, end, _name(part.string)))
        elif part.type in (token.STRING, tokenize.COMMENT, getattr(token, "FSTRING_MIDDLE", -1)):
            cuts.append((row, begin, end_row, end, _prose(part.string)))
    for row, begin, end_row, end, text in sorted(cuts, reverse=True):
        whole = lines[row - 1][:begin] + text + lines[end_row - 1][end:]
        lines[row - 1 : end_row] = [whole]
    return "".join(lines)


def _closing(tokens: List[tokenize.TokenInfo], opening: int) -> tokenize.TokenInfo:
    depth = 0
    for part in tokens[opening:]:
        depth += {"[": 1, "]": -1}.get(part.string, 0)
        if depth == 0:
            return part
    raise ValueError("a bracket is not closed")


def _name(name: str) -> str:
    return RENAMED.get(name) or re.sub(r"^(_?)[Aa]sync_?(?=[A-Za-z])", r"\1", name)


def _prose(text: str) -> str:
    for pattern, replacement in PROSE:
        text = pattern.sub(replacement, text)
    return text


def _without_unused_names(text: str) -> str:
    """Import lines lose the names that only async code needs."""

    def kept(found: re.Match[str]) -> str:
        rest = text.replace(found[0], "")
        names: Dict[str, None] = {}
        for name in found[2].split(","):
            name = name.strip()
            # Names that were two and have become one are imported once.
            if " as " in name or re.search(rf"\b{re.escape(name)}\b", rest):
                names[name] = None
        return f"{found[1]}{', '.join(names)}\n" if names else ""

    return re.sub(r"^(from (?!__future__)[\w.]+ import )([\w, ]+)\n", kept, text, flags=re.MULTILINE)


def main(arguments: List[str]) -> int:
    files = generated()
    if "--check" not in arguments:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    there = {path for path in (SOURCES / "_sync").rglob("*.py") if path.name not in BY_HAND}
    odd = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    odd += sorted(there - set(files))
    for path in odd:
        print(f"{path.relative_to(SOURCES)} is not what scripts/unasync.py makes of _async")
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
