"""Putting streamed tool calls together, for providers that number and name them in every way there is."""

import json
from typing import Any

import msgspec

from voicetui.reply.sse import parse_json


class ToolCall(msgspec.Struct, frozen=True):
    """A tool the model wants run. `arguments` is a valid JSON text; `id` is empty if the provider gave none."""

    index: int
    id: str
    name: str
    arguments: str


class _Draft:
    """A call still being written."""

    def __init__(self, slot: int | None, call_id: str, name: str) -> None:
        self.slot = slot
        self.id = call_id
        self.name = name
        self.arguments = ""

    def is_whole(self) -> bool:
        """Whether the arguments are a complete JSON container."""
        if not self.arguments.rstrip().endswith(("}", "]")):
            return False
        return _is_container(self.arguments)


class ToolCallAssembler:
    """Collects fragments of tool calls and returns the finished ones.

    A fragment belongs to the call with its id; without an id, to the call at its index if that one still lacks
    arguments; else to the last call that does. A name on top of complete arguments begins a new call, so arguments
    of two calls are never joined.
    """

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._taken = 0
        self.dropped = 0

    def __bool__(self) -> bool:
        """Whether any call was begun."""
        return bool(self._drafts)

    def feed(self, fragments: Any) -> None:
        """Take the `tool_calls` value of one delta or message; anything that is not a call is ignored."""
        if isinstance(fragments, dict):
            fragments = [fragments]
        if not isinstance(fragments, list):
            return
        for position, fragment in enumerate(fragments):
            if isinstance(fragment, dict):
                self._fragment(fragment, position if len(fragments) > 1 else None)

    def take(self) -> tuple[list[ToolCall], list[str]]:
        """Return the finished calls, and the names of those whose arguments are not valid JSON; then forget both."""
        calls: list[ToolCall] = []
        broken: list[str] = []
        for draft in self._drafts:
            arguments = _unwrap(draft.arguments.strip() or "{}")
            if draft.name and _is_container(arguments):
                calls.append(ToolCall(self._taken, draft.id, draft.name, arguments))
                self._taken += 1
            else:
                broken.append(draft.name or "unnamed")
        self._drafts = []
        return calls, broken

    def _fragment(self, fragment: dict[str, Any], position: int | None) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = fragment
        name = _text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict | list):
            arguments = json.dumps(arguments, ensure_ascii=False)
        arguments = _text(arguments)
        slot = _slot(fragment.get("index"), position)
        call_id = _text(fragment.get("id"))
        if not (call_id or name or arguments.strip()):
            return
        draft = self._owner(slot, call_id, name, arguments)
        if draft is None:
            self.dropped += 1
            return
        draft.id = draft.id or call_id
        draft.name = draft.name or name
        _append(draft, arguments)

    def _owner(self, slot: int | None, call_id: str, name: str, arguments: str) -> _Draft | None:
        """The draft a fragment belongs to, a new one where it starts a call, None if there is nowhere to put it."""
        at_slot = self._last(lambda draft: slot is None or draft.slot == slot)
        if call_id:
            known = self._last(lambda draft: draft.id == call_id)
            if known and not (name and _begins_again(known, arguments)):
                return known
            nameless = at_slot and not known and not at_slot.id and name in ("", at_slot.name)
            if at_slot and nameless and (not at_slot.is_whole() or not (name or arguments)):
                return at_slot
            return self._begin(slot, call_id, name)
        if name:
            if at_slot and name == at_slot.name and not at_slot.is_whole():
                return at_slot
            if at_slot and not at_slot.name:
                return at_slot
            return self._begin(slot, call_id, name)
        started = self._last(lambda draft: draft.arguments != "" and not draft.is_whole())
        if started and at_slot and not at_slot.arguments and not arguments.lstrip().startswith(("{", "[")):
            return started
        if at_slot and (not at_slot.is_whole() or _is_placeholder(at_slot)):
            return at_slot
        return self._last(lambda draft: not draft.is_whole())

    def _begin(self, slot: int | None, call_id: str, name: str) -> _Draft:
        self._drafts.append(_Draft(slot, call_id, name))
        return self._drafts[-1]

    def _last(self, accepts: Any) -> _Draft | None:
        return next((draft for draft in reversed(self._drafts) if accepts(draft)), None)


def _append(draft: _Draft, arguments: str) -> None:
    if not draft.is_whole():
        draft.arguments += arguments
    elif arguments.strip() and (_is_container(arguments) or _is_placeholder(draft)):
        draft.arguments = arguments


def _begins_again(draft: _Draft, arguments: str) -> bool:
    """Whether complete, different arguments under a used id mean a second call."""
    if not draft.is_whole() or _is_placeholder(draft) or not arguments.strip():
        return False
    return not (_is_container(arguments) and parse_json(arguments) == parse_json(draft.arguments))


def _is_placeholder(draft: _Draft) -> bool:
    """An empty object some gateways send before the real arguments."""
    return draft.arguments.strip() == "{}"


def _is_container(text: str) -> bool:
    """Whether `text` is a JSON object or array."""
    try:
        return isinstance(parse_json(text), dict | list)
    except ValueError:
        return False


def _unwrap(arguments: str) -> str:
    """Undo one level of encoding, for providers that send the arguments as a JSON string within the JSON string."""
    if not arguments.startswith('"'):
        return arguments
    try:
        inner = parse_json(arguments)
    except ValueError:
        return arguments
    return inner if isinstance(inner, str) else arguments


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _slot(index: Any, position: int | None) -> int | None:
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 10:
        index = int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else position
