"""Which classes of a project are messages and tool calls, and what their fields are: told by what is done with them.

What the program calls them tells nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from lint_rules.anatomy import vocabulary as words
from lint_rules.anatomy.dialect.votes import CALL, MESSAGE, Class, Field, Rendering, Sent, Votes
from lint_rules.program.modules import ClassFrame, Module, indexed
from lint_rules.program.values import Container, Instance, Values

MOST_MADE = 2
"""How many calls are made of each other."""
PARSED = "input"
"""What a provider calls arguments that are parsed already (Anthropic's tool_use blocks)."""

HELD = {
    "tool_calls": frozenset({"args", "arguments", "function", "input"}),
    "choices": frozenset({"delta", "message", "text"}),
    "candidates": frozenset({"content"}),
}
"""What the elements of these have, in every provider's form: tool calls and choices of OpenAI, candidates of Gemini."""
Words = Mapping[Class, Mapping[str, str]]
"""By class its own word for a field -> the provider's."""
_CALLS = frozenset({"assistant"})
"""The role under which calls are sent."""
_OWN = "own {}"
"""A word that no rule asks for."""


class Parts:
    """What the fields of the classes stand for that a module, and others of its project, say something of."""

    def __init__(self, values: Values, own: Module, told: Iterable[Votes]) -> None:
        self._values = values
        self._frames = {Class.of(cls): cls for cls in own.classes}
        self._sources: dict[str, bytes] = {}
        self._votes: defaultdict[Class, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._roles: defaultdict[Field, set[str]] = defaultdict(set)
        self._perhaps: defaultdict[Class, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._given: list[tuple[Class, dict[str, list[Field]], bool]] = []
        self._fixed: defaultdict[Class, set[str]] = defaultdict(set)
        self._rendered: list[Rendering] = []
        self._texts: Counter[Field] = Counter()
        self._parsed: set[Field] = set()
        self._inside: defaultdict[Field, set[Class]] = defaultdict(set)
        for each in told:
            self._add(each)
        self._alone: dict[Class, str] = {}
        self._replied: set[Class] = set()
        self._spoken: set[Class] = set()
        self._known_own: dict[tuple[ClassFrame, str], bool] = {}
        self.words = {self._frames[cls]: chosen for cls, chosen in self._settled().items()}
        """By class: its own word for a field -> the provider's."""
        self.roles = {self._frames[cls]: role for cls, role in self._alone.items() if self._is_there(cls)}
        """The one role of a class of messages that has no field for it."""
        self.calls = {cls for cls in self.roles if "arguments" in self.words[cls].values()}
        """Of these the ones that are calls themselves."""
        self.replies = {self._frames[cls] for cls in self._replied}
        """Classes whose objects are what a model gives back."""
        self.spoken = {self._frames[cls] for cls in self._spoken if self._is_there(cls)}
        """Classes whose objects are messages, each of a class of its own."""

    def _add(self, told: Votes) -> None:
        self._sources |= told.sources
        for votes, more in ((self._votes, told.votes), (self._perhaps, told.perhaps)):
            for cls, counted in more.items():
                votes[cls].update(counted)
        for field, roles in told.roles.items():
            self._roles[field] |= roles
        for cls, roles in told.fixed.items():
            self._fixed[cls] |= roles
        for field, inner in told.inside.items():
            self._inside[field] |= inner
        self._given += told.given
        self._rendered += told.rendered
        self._texts.update(told.texts)
        self._parsed |= told.parsed

    def kind(self, cls: ClassFrame) -> str | None:
        """`message`, `call`, `reply` or None."""
        found = set(self.words.get(cls, {}).values())
        if cls in self.replies or cls in self.calls:
            return "reply" if cls in self.replies else "call"
        said = "role" in found or cls in self.roles or cls in self.spoken
        return "message" if said else "call" if found else None

    def says_all(self, cls: ClassFrame) -> bool:
        """Whether two messages of a class are equal if they say the same: it has no other field, such as an id."""
        known = self.words.get(cls, {})
        said = all(known.get(name) in ("role", "content", "tool_calls") for name in self._values.fields(cls))
        return said and self._values.is_value(cls)

    def word(self, cls: ClassFrame, name: str) -> str:
        """What a field of a class is called by providers; one that only bears a word of theirs, by none."""
        known = self.words.get(cls, {})
        return _OWN.format(name) if name in HELD and self._is_own(cls, name) else known.get(name, name)

    def _is_own(self, cls: ClassFrame, name: str) -> bool:
        """`run.tool_calls`: whether what a class, no part of an agent, holds under a provider's word is none either.

        Objects of another class of the project, then, with nothing that the provider's have: a log of the program's.
        """
        if (cls, name) not in self._known_own:
            value = self._values.attribute(cls, name)
            held = [part for thing in value if isinstance(thing, Container) for part in thing.inside]
            own = [part.cls for part in held if isinstance(part, Instance)]
            self._known_own[cls, name] = (
                0 < len(own) == len(held)
                and self.kind(cls) is None
                and all(self.kind(each) is None for each in own)
                and all(HELD[name].isdisjoint(self._values.fields(each)) for each in own)
            )
        return self._known_own[cls, name]

    def _is_there(self, cls: Class) -> bool:
        """Whether the class stands where others saw it: its file may have changed meanwhile."""
        if cls not in self._frames:
            module = indexed(cls.path, self._sources[cls.path])
            self._frames.update({Class.of(each): each for each in module.classes} if module is not None else {})
        return cls in self._frames

    def _settled(self) -> dict[Class, dict[str, str]]:
        for (cls, name), roles in self._roles.items():
            if not roles.isdisjoint(words.TELLING_ROLES) and (len(roles) > 1 or self._votes[cls]):
                self._votes[cls][name, "role"] += len(roles)
        self._follow()
        for rendering in self._rendered:
            self._render(rendering, {each.cls: each.roles for each in rendering.sent})
        found = self._found()
        for rendering in self._rendered:
            self._render(rendering, self._told(rendering, found))
        found = self._found()
        found |= self._replies(found)
        found = {c: chosen for c, chosen in found.items() if set(chosen.values()) != {"role"} or self._is_record(c)}
        for cls, name in self._parsed:
            if found.get(cls, {}).get(name) == "arguments":
                found[cls][name] = PARSED
        return found

    def _found(self) -> dict[Class, dict[str, str]]:
        """By class what its fields are, as votes tell."""
        found = {}
        for cls in [*self._votes, *(cls for cls in self._fixed if cls not in self._votes)]:
            votes = self._votes[cls]
            chosen = self._chosen(cls, votes)
            parts = set(chosen.values())
            if "role" in parts:
                found[cls] = {name: part for name, part in chosen.items() if part in MESSAGE}
            elif len(self._fixed[cls]) == 1:
                self._alone[cls] = next(iter(self._fixed[cls]))
                is_call = "content" not in parts and {"name", "arguments"} <= parts
                found[cls] = {name: part for name, part in chosen.items() if part in (CALL if is_call else MESSAGE)}
            elif {"name", "arguments"} <= parts:
                found[cls] = {name: part for name, part in chosen.items() if part in CALL}
        found = {cls: chosen for cls, chosen in found.items() if self._is_there(cls)}
        found |= self._around(found)
        for cls, chosen in found.items():
            self._complete(cls, chosen, found)
        return found

    def _around(self, found: Words) -> dict[Class, dict[str, str]]:
        """Calls whose name and arguments lie in an object of their own: `Wish(id, Deed(name, arguments))`."""
        made: dict[Class, dict[str, str]] = {}
        for (cls, name), inner in self._inside.items():
            parts = [set(found.get(each, {}).values()) for each in inner]
            if cls not in found and any({"name", "arguments"} <= own and "id" not in own for own in parts):
                voted = self._votes[cls] | self._perhaps[cls]
                ids = [field for field, part in voted if part == "id" and field != name]
                if ids and self._is_there(cls):
                    made[cls] = {name: "function", ids[0]: "id"}
        return made

    def _replies(self, found: dict[Class, dict[str, str]]) -> dict[Class, dict[str, str]]:
        """What a model gives back: objects with calls, and with what becomes the content of a message, if any."""
        made: dict[Class, dict[str, str]] = {}
        contents = {
            source
            for cls, fields, _ in self._given
            for name, sources in fields.items()
            if found.get(cls, {}).get(name) == "content"
            for source in sources
        }
        for cls in {cls for cls, _ in contents if cls not in found and self._is_there(cls)}:
            names = self._values.fields(self._frames[cls])
            calls = [name for name in names if any(self._is_call(found.get(held)) for held in self._held(cls, name))]
            if calls:
                self._replied.add(cls)
                made[cls] = {calls[0]: "tool_calls"} | {name: "content" for name in names if (cls, name) in contents}
        return made

    def _follow(self) -> None:
        """Votes for what objects are made of, or become part of: an answer has the id of the call, a call its name.

        Where an answer gets more of the call, its name is no id.
        """
        for cls, fields, is_answer in self._given:
            read = [(name, *each) for name, sources in fields.items() for each in sources] if is_answer else []
            votes = {source: self._perhaps[source] | self._votes[source] for _, source, _ in read}
            of_calls = [each for each in read if {"name", "arguments"} <= {part for _, part in votes[each[1]]}]
            others = [(n, c, f) for n, c, f in of_calls if not votes[c][f, "name"] and not votes[c][f, "arguments"]]
            for name, source, key in others or of_calls:
                self._votes[source] += self._perhaps.pop(source, Counter())
                self._votes[source][key, "id"] += 1
                self._votes[cls][name, "tool_call_id"] += 1
        for _ in range(MOST_MADE):
            for cls, fields, _ in self._given:
                parts = [(name, part) for name, sources in fields.items() for part in self._parts_of(sources)]
                if {"name", "arguments"} <= {part for _, part in parts} and not self._votes[cls]:
                    self._votes[cls].update(parts)

    def _render(self, rendering: Rendering, sent: Mapping[Class, frozenset[str]]) -> None:
        """Objects that are sent under several roles, each under one by its class, are messages."""
        told = {role for roles in sent.values() for role in roles}
        if len(told) < 2 or words.TELLING_ROLES.isdisjoint(told):
            return
        self._spoken |= rendering.whole | {cls for cls, roles in sent.items() if roles}
        for cls, roles in sent.items():
            if len(roles) == 1:
                self._fixed[cls] |= roles
                is_call = "arguments" in {part for _, part in self._votes[cls]}
                texts = {name for each, name in self._texts if each == cls and not is_call}
                self._votes[cls].update((name, "content") for name in texts)

    def _told(self, rendering: Rendering, found: Words) -> dict[Class, frozenset[str]]:
        """The roles of objects of which others are made that are sent, and of those that stand beside them.

        These are calls, or go into results when other objects are sent.
        """
        others = {cls for _, fields, _ in self._given for read in fields.values() for cls, _ in read} | found.keys()
        told = {each.cls: each.roles | self._becomes(each, found) for each in rendering.sent}
        are_messages = len({role for roles in told.values() for role in roles}) > 1
        for cls in sorted(others - told.keys()) if are_messages else ():
            if not self._is_beside(cls, rendering):
                continue
            is_call = {"name", "arguments"} <= set(found.get(cls, {}).values())
            made = [made for made, read in self._read_of(cls, found) if "content" in {part for _, part in read}]
            results = frozenset((each, None) for each in made if self._alone.get(each) == "tool")
            told[cls] = _CALLS if is_call else self._becomes(Sent(cls, frozenset(), results), found)
        return told

    def _becomes(self, sent: Sent, found: Words) -> frozenset[str]:
        """The roles of what is made of the objects of a class; their fields are what they become there."""
        roles = {told for cls, role in sent.made if (told := role or self._alone.get(cls)) is not None}
        made = {cls for cls, _ in sent.made}
        read = [parts for cls, parts in self._read_of(sent.cls, found) if cls in made]
        calls = [parts for parts in read if {"name", "arguments"} <= {part for _, part in parts}]
        if calls:
            read, roles = calls, {*_CALLS}
        elif any(part == "tool_call_id" for parts in read for _, part in parts) or roles == {"tool"}:
            roles = {"tool"}
            given = (fields.items() for cls, fields, _ in self._given if cls == sent.cls)
            of_calls = (n for each in given for n, there in each if any(self._votes[c][f, "id"] for c, f in there))
            self._votes[sent.cls].update((name, "tool_call_id") for name in of_calls)
        if len(roles) == 1:
            self._votes[sent.cls].update(pair for parts in read for pair in parts)
        return frozenset(roles)

    def _is_beside(self, cls: Class, rendering: Rendering) -> bool:
        bases = self._values.bases(self._frames[cls]) if self._is_there(cls) else ()
        return not rendering.whole.isdisjoint({cls, *map(Class.of, bases)})

    def _read_of(self, cls: Class, found: Words) -> Iterator[tuple[Class, set[tuple[str, str]]]]:
        """What is made of the objects of a class: of which class it is, and what their own fields become there."""
        for made, fields, _ in self._given:
            known = ((found.get(made, {}).get(field), each) for field, each in fields.items())
            read = {(name, part) for part, each in known if part is not None for own, name in each if own == cls}
            if read:
                yield made, read

    def _parts_of(self, fields: list[Field]) -> set[str]:
        """Which part of a call it is that is read of other objects."""
        return {
            part
            for cls, name in fields
            if {"name", "arguments"} <= {part for _, part in self._votes[cls]}
            for (field, part) in self._votes[cls]
            if field == name and part in CALL
        }

    def _is_record(self, cls: Class) -> bool:
        """Whether objects of a class only hold values, a role beside others: what does something is no message."""
        frame, values = self._frames[cls], {"property", "cached_property", "classmethod", "staticmethod"}
        methods = (m for name, m in frame.methods.items() if not name.startswith("__"))
        return all(not m.decorators.isdisjoint(values) for m in methods) and len(self._values.fields(frame)) > 1

    @staticmethod
    def _chosen(cls: Class, votes: Counter[tuple[str, str]]) -> dict[str, str]:
        """Each part to one field, each field one part: the most votes first."""
        chosen: dict[str, str] = {}
        for (name, part), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
            if name not in chosen and part not in chosen.values():
                chosen[name] = part
        return chosen

    def _complete(self, cls: Class, chosen: dict[str, str], found: dict[Class, dict[str, str]]) -> None:
        """What only follows from what else is known: the field that holds calls, the one that holds the text."""
        fields = [name for name in self._values.fields(self._frames[cls]) if name not in chosen]
        parts = set(chosen.values())
        if "role" in parts or (cls in self._alone and "arguments" not in parts):
            for name in fields:
                if "tool_calls" not in parts and any(self._is_call(found.get(c)) for c in self._held(cls, name)):
                    chosen[name] = "tool_calls"
                    parts.add("tool_calls")
            texts = [name for name in fields if name not in chosen and self._texts[cls, name]]
            if "content" not in parts and texts:
                chosen[max(texts, key=lambda name: self._texts[cls, name])] = "content"
        elif "id" not in parts:
            ids = [name for name in fields if self._votes[cls][name, "tool_call_id"]]
            if ids:
                chosen[ids[0]] = "id"

    @staticmethod
    def _is_call(chosen: dict[str, str] | None) -> bool:
        return chosen is not None and not {"arguments", "function"}.isdisjoint(chosen.values())

    def _held(self, cls: Class, name: str) -> Iterator[Class]:
        for thing in self._values.attribute(self._frames[cls], name):
            if isinstance(thing, Container):
                for part in thing.inside:
                    if isinstance(part, Instance):
                        self._frames[Class.of(part.cls)] = part.cls
                        yield Class.of(part.cls)
