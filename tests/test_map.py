"""`looplint map`: the model of the picture, and what each format makes of it."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lint_rules.check import Options, check_source, map_source
from lint_rules.cli import main
from lint_rules.files import neighbours
from lint_rules.output.maps import renderer
from lint_rules.picture import KINDS, ROUND, Loop, Sheet
from lint_rules.rules.catalogue import BY_CODE

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "fixtures" / "example_agent"
SCHEMA = json.loads((ROOT / "docs" / "looplint-map.schema.json").read_text())
OPTIONS = Options(frozenset(code for code in BY_CODE if not code.startswith("AGL9")))

ROUNDS = """
def work(client, tools, text):
    messages = [{"role": "user", "content": text}]
    while True:
        reply = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = tools[call.function.name](call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""


def sheet_of(source: str, path: str = "agent.py") -> Sheet:
    found = check_source(source.encode(), path, OPTIONS, neighbours=neighbours).findings
    return map_source(source.encode(), path, OPTIONS, neighbours=neighbours, findings=found)


def loop_of(source: str, path: str = "agent.py") -> Loop:
    [loop] = sheet_of(source, path).loops
    return loop


def parts(loop: Loop, kind: str) -> list[tuple[str, int]]:
    return [(part.name, part.place.line) for part in loop.parts if part.kind == kind]


def example() -> Sheet:
    return sheet_of((EXAMPLE / "chat.py").read_text(), str(EXAMPLE / "chat.py"))


# -- the model ----------------------------------------------------------------------------------------------------


def test_the_round_of_a_plain_loop() -> None:
    loop = loop_of(ROUNDS)
    assert (loop.function, loop.statement, loop.limit) == ("work", "while True:", "")
    assert parts(loop, "history") == [("messages", 3)]
    assert parts(loop, "ask") == [("client.chat.completions.create", 5)]
    assert parts(loop, "reply") == [("reply.tool_calls", 9)]
    assert parts(loop, "run") == [("tools[call.function.name]", 10)]
    assert parts(loop, "answer") == [("messages", 11)]
    assert parts(loop, "end") == [("not reply.tool_calls", 7)]
    assert parts(loop, "write") == [("messages", 6)]
    assert [part.missing for part in loop.parts if part.kind == "limit"] == [True]


def test_the_round_closes() -> None:
    loop = loop_of(ROUNDS)
    kind_of = {part.id: part.kind for part in loop.parts}
    went = [(kind_of[edge.source], kind_of[edge.target]) for edge in loop.edges if edge.kind == "round"]
    assert went == list(zip(ROUND, [*ROUND[1:], ROUND[0]], strict=True))


def test_a_message_that_takes_the_place_of_another_is_a_write() -> None:
    other = '        messages[-1] = {"role": "user", "content": "in short"}'
    loop = loop_of(ROUNDS.replace("        if not reply", f"{other}\n        if not reply"))
    assert ("messages", 7) in parts(loop, "write")


def test_all_that_stands_beside_the_round_of_the_example() -> None:
    sheet = example()
    [loop] = sheet.loops
    assert loop.limit == "range(MAX_ROUNDS)"
    assert parts(loop, "history") == [("self.messages", 83)]
    assert ("compact(self.messages)", 106) in parts(loop, "copy")
    assert parts(loop, "lock") == [("self.lock", 87)]
    assert parts(loop, "start") == [("Conversation.ask_if_still_there", 99)]
    assert [line for _, line in parts(loop, "write")] == [93, 105, 112]
    assert [line for _, line in parts(loop, "parse")] == [55, 71]
    assert [line for _, line in parts(loop, "guard")] == [64]
    starts = next(part.id for part in loop.parts if part.kind == "start")
    assert [edge.target for edge in loop.edges if edge.source == starts] == ["write-93"]


def test_each_finding_is_pinned_where_it_stands() -> None:
    sheet = example()
    [loop] = sheet.loops
    pinned = {sheet.findings[number].code + f":{part.kind}-{part.place.line}" for part in loop.parts
              for number in part.findings}  # fmt: skip
    assert pinned == {
        "AGL101:write-93", "AGL201:code-48", "AGL301:copy-106", "AGL401:guard-64", "AGL501:parse-55", "AGL501:parse-71",
    }  # fmt: skip
    assert sheet.unpinned == ()
    assert all(part.place.line == sheet.findings[n].span.line for part in loop.parts for n in part.findings)


def test_what_is_found_of_the_loop_itself_stands_at_its_limit() -> None:
    sheet = sheet_of(ROUNDS)
    [at] = [part for part in sheet.loops[0].parts if "AGL302" in {sheet.findings[n].code for n in part.findings}]
    assert (at.kind, at.missing) == ("limit", True)


def test_edges_lead_from_part_to_part() -> None:
    for loop in (loop_of(ROUNDS), *example().loops):
        ids = [part.id for part in loop.parts]
        assert len(ids) == len(set(ids))
        assert {end for edge in loop.edges for end in (edge.source, edge.target)} == set(ids)


OWN_WORDS = """
import json
from dataclasses import dataclass, field

from openai import OpenAI


@dataclass
class Wish:
    ref: str
    tool: str
    options: dict


@dataclass
class Turn:
    speaker: str
    said: str = ""
    wishes: list[Wish] = field(default_factory=list)
    answers: str = ""


class Desk:
    def __init__(self, tools):
        self.client = OpenAI()
        self.tools = tools
        self.turns: list[Turn] = []

    def sent(self):
        found = []
        for turn in self.turns:
            if turn.answers:
                found.append({"role": "tool", "tool_call_id": turn.answers, "content": turn.said})
                continue
            message = {"role": turn.speaker, "content": turn.said}
            if turn.wishes:
                message["tool_calls"] = [
                    {"id": w.ref, "function": {"name": w.tool, "arguments": json.dumps(w.options)}}
                    for w in turn.wishes
                ]
            found.append(message)
        return found

    def work(self, question):
        self.turns.append(Turn("user", question))
        for _ in range(8):
            reply = self.client.chat.completions.create(model="gpt-4o", messages=self.sent()).choices[0].message
            wishes = [
                Wish(c.id, c.function.name, json.loads(c.function.arguments or "{}")) for c in reply.tool_calls or []
            ]
            self.turns.append(Turn("assistant", reply.content or "", wishes))
            if not wishes:
                return reply.content
            for wish in wishes:
                result = self.tools[wish.tool](**wish.options)
                self.turns.append(Turn("tool", str(result), answers=wish.ref))
        raise RuntimeError("too many rounds")
"""


def test_a_program_with_own_words_is_drawn_as_it_is_checked_and_named_as_it_stands_there() -> None:
    sheet = sheet_of(OWN_WORDS)
    [loop] = sheet.loops
    line = OWN_WORDS[: OWN_WORDS.index('self.turns.append(Turn("tool"')].count("\n") + 1
    assert ("self.turns", line) in parts(loop, "answer")
    calls = {value.name for value in sheet.known if value.kind == "calls"}
    assert any("wishes" in name for name in calls), calls
    said = json.loads("".join(renderer("json")([sheet])))["files"][0]
    named = [part["name"] for part in said["loops"][0]["parts"]]
    assert not any("tool_call_id" in name for name in named)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="generic classes have no syntax of their own")
def test_a_generic_class_is_checked_and_drawn_as_it_stands() -> None:
    """libcst reads it, so its normal form is not what the tree says."""
    body = ROUNDS.replace("\n    while", '\n    asked = f"{text}?"\n    client.note(asked)\n    while')
    source = "class Desk[T]:" + body.replace("\n", "\n    ").replace("work(", "work(self, ").rstrip() + "\n"
    sheet = sheet_of(source)
    assert [finding.code for finding in sheet.findings] == ["AGL302"]
    assert [loop.function for loop in sheet.loops] == ["Desk.work"]


def test_a_long_history_is_shown_in_short() -> None:
    listed = "".join(f'        {{"role": "user", "content": "{n}"}},\n' for n in range(300))
    loop = loop_of(ROUNDS.replace('[{"role": "user", "content": text}]', f"[\n{listed}    ]"))
    [history] = [part for part in loop.parts if part.kind == "history"]
    assert history.code.count("\n") == 4
    assert history.code.endswith("… 298 more lines")


def test_a_file_without_an_agent_has_nothing_to_draw() -> None:
    assert not sheet_of("x = 1\n").is_agent
    assert list(renderer("text")([sheet_of("x = 1\n")])) == ["no parts of an agent found"]


# -- JSON ---------------------------------------------------------------------------------------------------------


def as_json(*sheets: Sheet) -> Any:
    document = json.loads("\n".join(renderer("json")(sheets)))
    jsonschema.validate(document, SCHEMA)
    return document


def test_json_is_what_its_schema_says() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    document = as_json(example(), sheet_of(ROUNDS), sheet_of(OWN_WORDS), sheet_of("x = 1\n"))
    assert document["looked_at"] == 4
    assert [len(file["loops"]) for file in document["files"]] == [1, 1, 1]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "version": 2}, SCHEMA)


def test_the_schema_tells_all_that_json_has() -> None:
    """What is not in the schema nobody knows of; what is, everybody counts on."""
    document = as_json(example())
    tells = SCHEMA["definitions"]
    [file] = document["files"]
    [loop] = file["loops"]
    listed = {
        "file": file, "loop": loop, "part": loop["parts"][0], "edge": loop["edges"][0], "place": loop["place"],
        "value": file["values"][0], "finding": file["findings"][0],
    }  # fmt: skip
    assert {name: set(it) for name, it in listed.items()} == {name: set(tells[name]["required"]) for name in listed}
    assert set(document) == set(SCHEMA["required"])
    described = {line.partition(":")[0] for line in tells["part"]["properties"]["kind"]["description"].split("; ")}
    assert described == set(KINDS)


# -- Mermaid ------------------------------------------------------------------------------------------------------

HOSTILE = """
def work(client, tools, text):
    messages = [{"role": "user", "content": text}]
    while "</svg></script><script>alert(1)</script>]]>-->":
        asked = messages["<img src=x onerror=alert(2)>"]["```"]["#quot; %% &amp;"]
        reply = client.chat.completions.create(model="<b>m</b>", messages=asked, tools=tools).choices[0].message
        messages.append(reply)
        if not reply.tool_calls["<script>alert(3)</script>"]["]; click n0 call alert()"]:
            return reply.content
        for call in reply.tool_calls:
            result = tools[call.function.name](call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})  # --> </style>\u202e
"""
HOSTILE_PATH = '<i>a`b"c&d]]>.py'


def charts(*sheets: Sheet) -> list[str]:
    text = "\n".join(renderer("mermaid")(sheets))
    return re.findall(r"^```mermaid\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)


def test_a_flowchart_for_each_loop() -> None:
    plain, of_example = charts(sheet_of(ROUNDS), example(), sheet_of("x = 1\n"))
    assert '(["Ask the model · line 5<br/>client.chat.completions.create"])' in plain
    assert '"Limit<br/>no limit<br/>⚠ AGL302 unbounded-rounds"}}:::finding' in plain
    assert "AGL301 stale-history-snapshot" in of_example
    assert plain.count("==>") == len(ROUND)


def test_no_label_says_anything_to_mermaid_or_a_browser() -> None:
    [chart] = charts(sheet_of(HOSTILE, HOSTILE_PATH))
    label = r'"(?!-)([\w .,:/()\-…·⚠]|#\d+;|<br/>)+"'
    begin, end = r"(\[|\[\(|\[\[|\(\[|\{\{|>|\(\(\()", r"(\]|\)\]|\]\]|\]\)|\}\}|\)\)\))"
    node = rf"  n\d+{begin}{label}{end}(:::finding)?"
    line = re.compile(rf"{node}|  n\d+ (==>|-\.->) n\d+|flowchart TD|  classDef finding [\w:#, -]+")
    assert [each for each in chart.splitlines() if not line.fullmatch(each)] == []


def test_the_markdown_around_charts_holds_no_tags() -> None:
    text = "\n".join(renderer("mermaid")([sheet_of(HOSTILE, HOSTILE_PATH)]))
    outside = re.sub(r"^```mermaid\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "AGL302" in outside
    assert not re.search(r"<[^>]*>", re.sub(r"(`+) ?.*?(?<!`)\1(?!`)", "", outside))
    assert list(renderer("mermaid")([sheet_of("x = 1\n")])) == ["No loop of rounds was found."]


@pytest.mark.skipif(os.environ.get("LOOPLINT_HEAVY") != "1", reason="installs mermaid: LOOPLINT_HEAVY=1 runs it")
def test_mermaid_reads_the_charts(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    quiet = ["--no-audit", "--no-fund", "--silent"]
    subprocess.run([npm, "install", *quiet, "--prefix", tmp_path, "mermaid@11", "jsdom@26"], check=True, cwd=tmp_path)
    (tmp_path / "charts.json").write_text(json.dumps(charts(sheet_of(ROUNDS), example(), sheet_of(HOSTILE))))
    (tmp_path / "parse.mjs").write_text(
        """
        import fs from "node:fs"
        import { JSDOM } from "jsdom"
        globalThis.window = new JSDOM("<body></body>").window
        globalThis.document = window.document
        const mermaid = (await import("mermaid")).default
        for (const chart of JSON.parse(fs.readFileSync("charts.json"))) {
          console.log((await mermaid.parse(chart)).diagramType)
        }
        """
    )
    ran = subprocess.run(["node", "parse.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout.split(), ran.stderr) == (["flowchart-v2"] * 3, "")


# -- HTML ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a browser gets of a page: its elements with their attributes, and its text. Refuses what is not closed."""

    def __init__(self, *sheets: Sheet) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.source = "\n".join(renderer("html")(sheets))
        self.feed(self.source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(attribute)) is not None]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(example(), sheet_of(ROUNDS), sheet_of("x = 1\n"))


def test_the_page_needs_nothing_but_itself(page: Page) -> None:
    assert "script" not in {tag for tag, _ in page.elements}
    assert not re.search(r"(https?:|//|@import|url\()", page.source.partition("<body>")[0])
    assert all(link.startswith("#") for link in page.values("href"))
    assert not page.values("src")
    assert "default-src 'none'; style-src 'unsafe-inline'" in page.values("content")


def test_links_lead_somewhere_and_names_are_given_once(page: Page) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.values("href")} <= set(ids)
    assert set(page.values("aria-labelledby")) <= set(ids)


def test_all_that_is_drawn_can_be_read(page: Page) -> None:
    sheet = example()
    for finding in sheet.findings:
        assert finding.message[1:].replace("`", "") in page.text
        assert finding.help.split("\n")[0].replace("`", "") in page.text
    for part in (part for loop in sheet.loops for part in loop.parts):
        assert f"chat.py:{part.place.line}" in page.text
        assert KINDS[part.kind] in page.text
        assert " ".join(part.code.split()) in page.text


def test_the_page_is_read_in_the_order_of_the_round() -> None:
    page = Page(sheet_of(ROUNDS))
    kinds = [name.split()[2] for name in page.values("class") if name.startswith("card main")]
    assert kinds == [f"k-{kind}" for kind in ROUND]
    assert [tag for tag, _ in page.elements if re.fullmatch("h[1-9]", tag)][:4] == ["h1", "h2", "h2", "h3"]


def test_what_strangers_wrote_stays_text() -> None:
    page = Page(sheet_of(HOSTILE, HOSTILE_PATH))
    plain = Page(sheet_of(ROUNDS))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements}
    names = {name for _, attributes in page.elements for name in attributes}
    assert names <= {name for _, attributes in plain.elements for name in attributes}
    assert "</svg></script><script>alert(1)</script>]]>-->" in page.text
    assert '<i>a`b"c&d]]>.py' in page.text
    assert "\u202e" not in page.source


def test_a_folder_without_loops_says_so() -> None:
    assert "No loop of rounds was found in 2 files" in Page(sheet_of("x = 1\n"), sheet_of("y = 1\n")).text
    assert "No loop of rounds was found in 0 files" in Page().text
    helper = sheet_of(
        'def f(client, log):\n    return client.chat.completions.create(model="m", messages=log)\n', "f.py"
    )
    assert "1 file with other parts of an agentf.py" in Page(helper, sheet_of("x = 1\n")).text
    assert "1 file with parts of an agent, but no loop" in Page(helper, sheet_of(ROUNDS)).text
    assert "Calls of a model" in Page(helper).text


def test_what_stands_in_no_loop_is_on_the_page() -> None:
    alone = "import json\n\n\ndef f(call):\n    try:\n        return json.loads(call.function.arguments)\n"
    sheet = sheet_of(f"{alone}    except ValueError:\n        return {{}}\n")
    assert (len(sheet.loops), sheet.unpinned) == (0, (0,))
    assert "Found hereAGL501 ignored-json-error agent.py:6" in Page(sheet).text


def test_of_many_parts_without_findings_most_are_folded_away() -> None:
    sheet = sheet_of(ROUNDS)
    [loop] = sheet.loops
    write = next(part for part in loop.parts if part.kind == "write")
    more = tuple(replace(write, id=f"write-{number}", code=f"store({number})") for number in range(8))
    page = Page(replace(sheet, loops=(replace(loop, parts=(*loop.parts, *more)),)))
    assert "7 more: store" in page.text
    assert all(f"store({number})" in page.text for number in range(8))


LOOKS = """
<script>
const box = kind => document.querySelector(".k-" + kind).getBoundingClientRect()
const seen = {wide: innerWidth, page: document.documentElement.scrollWidth}
for (const kind of ["history", "ask", "reply", "run", "answer"]) seen[kind] = box(kind).toJSON()
document.documentElement.dataset.seen = JSON.stringify(seen)
</script>
"""


@pytest.mark.skipif(os.environ.get("LOOPLINT_HEAVY") != "1", reason="starts a browser: LOOPLINT_HEAVY=1 runs it")
@pytest.mark.parametrize(("width", "is_ring"), [(1360, True), (520, False)])
def test_a_browser_lays_out_the_round(tmp_path: Path, width: int, is_ring: bool) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium")
    long = ROUNDS.replace("messages", "messages_of_" + "the_customer_" * 9).replace("work", "w" * 200)
    source = Page(example(), sheet_of(long)).source
    source = re.sub("<meta http-equiv[^>]*>", "", source).replace("</body>", LOOKS + "</body>")
    (tmp_path / "page.html").write_text(source)
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},900", "--dump-dom"]
    dom = subprocess.run(
        [browser, *options, f"file://{tmp_path}/page.html"], capture_output=True, text=True, timeout=120
    )
    seen = json.loads(html.unescape(re.findall('data-seen="([^"]*)"', dom.stdout)[0]))
    assert seen["page"] <= seen["wide"]
    history, ask, reply, run, answer = (seen[kind] for kind in ROUND)
    if is_ring:
        assert history["right"] < run["left"] < run["right"] < ask["left"]
        assert history["top"] == ask["top"] < reply["top"] < run["bottom"]
        assert history["bottom"] < answer["top"] < run["bottom"]
    else:
        tops = [box["top"] for box in (history, ask, reply, run, answer)]
        assert tops == sorted(tops)


# -- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(ROUNDS)
    (tmp_path / "other.py").write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize("words", [["map"], ["map", "."], ["map", "agent.py", "other.py"]])
def test_a_folder_is_drawn_file_by_file(folder: Path, words: list[str], capsys: Any) -> None:
    assert main([*words, "--no-cache"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("agent.py\n========\n")
    assert "other.py" not in out


def test_a_file_that_cannot_be_read_costs_no_other_its_picture(folder: Path, capsys: Any) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    assert main(["map", "--format", "json", "--no-cache"]) == 2
    out, err = capsys.readouterr()
    assert [file["path"] for file in json.loads(out)["files"]] == ["agent.py"]
    assert err.startswith("looplint: error: broken.py: ")
    assert err.count("\n") == 1


def test_it_goes_to_a_file(folder: Path, capsys: Any) -> None:
    assert main(["map", "--format", "json", "-o", "out/map.json", "--no-cache"]) == 0
    assert capsys.readouterr().out == ""
    jsonschema.validate(json.loads((folder / "out" / "map.json").read_text()), SCHEMA)


def test_findings_are_those_that_are_asked_for(folder: Path, capsys: Any) -> None:
    codes = []
    for more in ([], ["--ignore", "AGL302,AGL303"], ["--extend-select", "AGL9"]):
        main(["map", "agent.py", "--format", "json", "--isolated", "--no-cache", *more])
        [file] = json.loads(capsys.readouterr().out)["files"]
        codes.append({finding["code"] for finding in file["findings"]})
    assert codes[1] < codes[0] < codes[2]


def notebook(*cells: str) -> str:
    listed = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed})


def test_places_of_a_notebook_are_those_of_its_cells(folder: Path, capsys: Any) -> None:
    (folder / "agent.ipynb").write_text(notebook("import json", ROUNDS.lstrip()))
    assert main(["map", "agent.ipynb", "--format", "json", "--no-cache"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    [loop] = document["files"][0]["loops"]
    assert loop["place"]["cell"] == 2
    assert {part["kind"]: part["place"]["line"] for part in loop["parts"]}["ask"] == 4
    assert all(finding["cell"] == 2 for finding in document["files"][0]["findings"])
