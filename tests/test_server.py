"""The language server, as an editor has it: a real client starts it, and speaks with it over its standard streams."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from marked_engine import Project
from pygls.lsp.client import LanguageClient

AGENT = """\
def run(text):
    history.append({"role": "user", "content": "\N{GRINNING FACE}" + text})
    request = list(history)
    for _ in range(9):
        reply = client.chat.completions.create(model="m", messages=request, tools=T).choices[0].message
        history.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            history.append({"role": "tool", "tool_call_id": call.id, "content": go(call)})
    raise RuntimeError("too many rounds")
"""
ENDLESS = AGENT.replace("    request = list(history)\n", "").replace("for _ in range(9)", "while True")
ENDLESS = ENDLESS.replace("request", "history")
HEAD = "from openai import OpenAI\n\nclient = OpenAI()\nhistory = []\n"
FIXED = AGENT.replace("    request = list(history)\n", "").replace(
    "range(9):\n", "range(9):\n        request = list(history)\n"
)
TWO_FILES = Path(__file__).parent.parent / "fixtures" / "stale_history_snapshot" / "bad_turns_in_another_file"
PATIENCE = 60


class Editor:
    """A client, and what the server has told it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("editor", "1")
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.watched: list[Any] = []
        self._news = asyncio.Event()
        self._versions: dict[str, int] = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = list(params.diagnostics)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(params: types.RegistrationParams) -> None:
            self.watched += params.registrations
            self._news.set()

    async def start(self, options: Any, resolves: bool) -> None:
        await self.client.start_io(sys.executable, "-m", "lint_rules", "server")
        resolve = types.ClientCodeActionResolveOptions(["edit"]) if resolves else None
        actions = types.CodeActionClientCapabilities(resolve_support=resolve)
        watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(code_action=actions),
            workspace=types.WorkspaceClientCapabilities(did_change_watched_files=watching),
        )
        params = types.InitializeParams(
            capabilities=capabilities, root_uri=self.folder.as_uri(), initialization_options=options
        )
        self.server = await asyncio.wait_for(self.client.initialize_async(params), PATIENCE)
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> None:
        await asyncio.wait_for(self.client.shutdown_async(None), PATIENCE)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), PATIENCE)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what the server has to tell."""
        while not holds():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def open(self, name: str, text: str) -> list[types.Diagnostic]:
        """What is found in a text that is opened, saved or not."""
        uri = self.uri(name)
        self.diagnostics.pop(uri, None)
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, types.LanguageKind.Python, 1, text))
        )
        await self.until(lambda: uri in self.diagnostics)
        return self.diagnostics[uri]

    async def change(self, name: str, text: str) -> list[types.Diagnostic]:
        """What is found in a text after it became another."""
        uri = self.uri(name)
        del self.diagnostics[uri]
        version = self._versions[uri] = self._versions.get(uri, 1) + 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        await self.until(lambda: uri in self.diagnostics)
        return self.diagnostics[uri]

    async def again(self, name: str, told: Callable[[], None]) -> list[types.Diagnostic]:
        """What is found in an open text after the server was told something."""
        uri = self.uri(name)
        del self.diagnostics[uri]
        told()
        await self.until(lambda: uri in self.diagnostics)
        return self.diagnostics[uri]

    async def actions(self, uri: str, line: int, *only: str) -> list[types.CodeAction]:
        """What is offered in a line (from 0)."""
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        context = types.CodeActionContext([], only=list(only) or None)  # type: ignore[arg-type]
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE)
        return [action for action in found or [] if isinstance(action, types.CodeAction)]

    async def edited(self, action: types.CodeAction, texts: dict[str, str]) -> dict[str, str]:
        """Texts after an action is carried out."""
        resolved = await asyncio.wait_for(self.client.code_action_resolve_async(action), PATIENCE)
        assert resolved.edit is not None
        assert resolved.edit.changes is not None
        return {uri: applied(text, resolved.edit.changes.get(uri, ())) for uri, text in texts.items()}

    async def hover(self, uri: str, line: int, character: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        found = await asyncio.wait_for(self.client.text_document_hover_async(params), PATIENCE)
        return found.contents.value if found and isinstance(found.contents, types.MarkupContent) else ""


def applied(text: str, edits: Any) -> str:
    """A text after edits, as a client applies them: positions count UTF-16 units."""
    lines = text.split("\n")

    def offset(position: types.Position) -> int:
        before = sum(len(line) + 1 for line in lines[: position.line])
        units = (
            lines[position.line].encode("utf-16-le")[: 2 * position.character] if position.line < len(lines) else b""
        )
        return before + len(units.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda edit: -offset(edit.range.start)):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


@asynccontextmanager
async def editing(folder: Path, options: Any = None, *, resolves: bool = True) -> AsyncIterator[Editor]:
    editor = Editor(folder)
    await editor.start(options, resolves)
    try:
        yield editor
    finally:
        await editor.stop()


def run(session: Coroutine[Any, Any, None]) -> None:
    asyncio.run(session)


def codes(diagnostics: list[types.Diagnostic]) -> list[Any]:
    return [diagnostic.code for diagnostic in diagnostics]


# -- one session for most: a server takes a second to start -------------------------------------------------------


def test_an_afternoon_in_an_editor(tmp_path: Path) -> None:
    async def session() -> None:
        async with editing(tmp_path) as editor:
            await findings_and_places(editor)
            await quick_fixes(editor)
            await pages(editor)
            await texts_that_change(editor)
            await configuration(editor)
            await other_files(editor)

    run(session())


async def findings_and_places(editor: Editor) -> None:
    (found,) = await editor.open("agent.py", HEAD + AGENT)
    assert (found.code, found.source, found.severity) == ("AGL301", "looplint", types.DiagnosticSeverity.Warning)
    assert found.range == types.Range(types.Position(6, 4), types.Position(6, 27))
    assert found.message.startswith("each round sends the same copy of `history`")
    assert found.related_information is not None
    notes = {note.message: note.location for note in found.related_information}
    request = notes["the request"]
    assert (request.uri, request.range.start) == (editor.uri("agent.py"), types.Position(8, 16))
    first = next(place for message, place in notes.items() if "is the message history" in message)
    line = (HEAD + AGENT).splitlines()[first.range.end.line]
    assert first.range.end.character == len(line) - line.count(")") + len(line.encode("utf-16-le")) // 2 - len(line)
    (broken,) = await editor.open("broken.py", "x = (\n")
    assert (broken.code, broken.severity) == ("AGL000", types.DiagnosticSeverity.Error)


async def quick_fixes(editor: Editor) -> None:
    uri = editor.uri("agent.py")
    source = HEAD + AGENT
    assert await editor.actions(uri, 0, "quickfix") == []
    fix, hide = await editor.actions(uri, 6, "quickfix")
    assert (fix.title, fix.is_preferred) == ("AGL301: take the copy in the loop, in each round", True)
    assert fix.edit is None, "made when it is chosen"
    assert codes(list(fix.diagnostics or ())) == ["AGL301"]
    assert await editor.edited(fix, {uri: source}) == {uri: HEAD + FIXED}
    assert hide.title == "AGL301: hide it with a `# noqa` comment"
    hidden = source.replace("list(history)\n", "list(history)  # noqa: AGL301\n")
    assert await editor.edited(hide, {uri: source}) == {uri: hidden}
    for kind in ("source", "source.fixAll", "source.fixAll.looplint"):
        (everything,) = await editor.actions(uri, 0, kind)
        assert await editor.edited(everything, {uri: source}) == {uri: HEAD + FIXED}
    assert [str(action.kind) for action in await editor.actions(uri, 0)][-1].endswith("source.fixAll.looplint")
    assert await editor.actions(uri, 6, "refactor") == []
    assert await editor.actions(editor.uri("broken.py"), 0) == []
    endless = editor.uri("endless.py")
    await editor.open("endless.py", HEAD + ENDLESS)
    fix, _ = await editor.actions(endless, 6, "quickfix")
    assert fix.title.endswith(" (a choice: adapt the change)")
    assert not fix.is_preferred
    assert "for _ in range(MAX_ROUNDS):" in (await editor.edited(fix, {endless: HEAD + ENDLESS}))[endless]
    assert await editor.actions(endless, 6, "source.fixAll") == []


async def pages(editor: Editor) -> None:
    uri = editor.uri("agent.py")
    assert (await editor.hover(uri, 6, 10)).startswith("# stale-history-snapshot (AGL301)")
    assert await editor.hover(uri, 0, 0) == ""
    await editor.open("comment.py", "x = '\N{GRINNING FACE}'  # noqa: AGL501\n")
    comment = editor.uri("comment.py")
    assert (await editor.hover(comment, 0, 20)).startswith("# ignored-json-error (AGL501)")
    assert await editor.hover(comment, 0, 14) == ""
    assert await editor.hover(comment, 9, 0) == ""


async def texts_that_change(editor: Editor) -> None:
    uri = editor.uri("agent.py")
    assert await editor.change("agent.py", HEAD + FIXED) == []
    assert await editor.actions(uri, 6) == []
    cookie = "# coding: latin-1\n# é\n"
    latin, fixed = (cookie + HEAD + text.replace("\N{GRINNING FACE}", "é") for text in (AGENT, FIXED))
    assert codes(await editor.change("agent.py", latin)) == ["AGL301"]
    (fix, *_) = await editor.actions(uri, 8, "quickfix")
    assert await editor.edited(fix, {uri: latin}) == {uri: fixed}
    assert codes(await editor.change("agent.py", cookie + HEAD + AGENT)) == ["AGL301"]
    (fix, *_) = await editor.actions(uri, 8, "quickfix")
    assert await editor.edited(fix, {uri: "x"}) == {uri: "x"}, "a text that cannot be saved as it says is not edited"
    assert codes(await editor.change("agent.py", HEAD + AGENT)) == ["AGL301"]
    del editor.diagnostics[uri]
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await editor.until(lambda: uri in editor.diagnostics)
    assert editor.diagnostics[uri] == []


async def configuration(editor: Editor) -> None:
    assert codes(await editor.open("agent.py", HEAD + AGENT)) == ["AGL301"]

    def settings(said: Any) -> Callable[[], None]:
        return lambda: editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(said))

    assert await editor.again("agent.py", settings({"looplint": {"ignore": ["AGL301"]}})) == []
    found = await editor.again("agent.py", settings({"looplint": {"extendSelect": ["AGL901"]}}))
    assert [(one.code, one.severity) for one in found] == [
        ("AGL301", types.DiagnosticSeverity.Warning),
        ("AGL901", types.DiagnosticSeverity.Information),
    ]
    assert codes(await editor.again("agent.py", settings({"looplint": {"extendSelect": "x"}})))
    assert editor.messages == [
        "looplint: the settings of the editor: in 'extend-select': expected a list of strings, got a string"
    ]
    await editor.again("agent.py", settings(None))
    await editor.until(lambda: bool(editor.watched))
    (watched,) = editor.watched
    assert watched.method == "workspace/didChangeWatchedFiles"
    pyproject = editor.folder / "pyproject.toml"

    def saved(text: str) -> Callable[[], None]:
        def tell() -> None:
            pyproject.write_text(text)
            change = types.FileEvent(pyproject.as_uri(), types.FileChangeType.Changed)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))

        return tell

    assert await editor.again("agent.py", saved('[tool.looplint]\nignore = ["AGL3"]\n')) == []
    editor.messages.clear()
    assert await editor.again("agent.py", saved("[tool.looplint]\nignore = 3\n")) == []
    assert "in 'ignore'" in editor.messages[0]
    assert await editor.again("agent.py", saved('[tool.looplint]\nextend-exclude = ["agent.py"]\n')) == []
    assert len(await editor.again("agent.py", saved("[tool.looplint]\nreport-unused-noqa = true\n"))) == 1
    assert codes(await editor.change("comment.py", "x = 1  # noqa: AGL501\n")) == ["AGL001"]
    assert editor.diagnostics[editor.uri("comment.py")][0].tags == (types.DiagnosticTag.Unnecessary,)


async def other_files(editor: Editor) -> None:
    """A module that is open counts as it stands in the editor, and what is found in it is a place there."""
    (editor.folder / "turns.py").write_text("def process_turn(history, on_message):\n    return input()\n")
    desk = (TWO_FILES / "desk.py").read_text(encoding="utf-8")
    assert await editor.open("desk.py", desk) == []
    assert await editor.open("turns.py", (TWO_FILES / "turns.py").read_text(encoding="utf-8")) == []
    (found,) = await editor.change("desk.py", desk + "\n")
    assert found.code == "AGL301"
    places = {note.location.uri: note.location.range for note in found.related_information or ()}
    assert places[editor.uri("turns.py")].start.line > 2


def test_a_client_that_cannot_resolve_has_the_edits_at_once(tmp_path: Path) -> None:
    async def session() -> None:
        options = {"settings": {"unfixable": ["AGL5"]}}
        async with editing(tmp_path, options, resolves=False) as editor:
            await editor.open("agent.py", HEAD + AGENT)
            actions = await editor.actions(editor.uri("agent.py"), 6)
            assert [action.edit is not None for action in actions] == [True, True, True]
            assert actions[0].edit is not None
            assert actions[0].edit.changes is not None
            assert applied(HEAD + AGENT, actions[0].edit.changes[editor.uri("agent.py")]) == HEAD + FIXED

    run(session())


# -- notebooks ----------------------------------------------------------------------------------------------------


def test_a_notebook_in_an_editor(tmp_path: Path) -> None:
    async def session() -> None:
        async with editing(tmp_path) as editor:
            uri = editor.uri("agent.ipynb")
            texts = {f"{uri}#1": "%pip install openai\n" + HEAD, f"{uri}#2": AGENT, f"{uri}#3": "await run('hi')"}
            cells = [types.NotebookCell(types.NotebookCellKind.Markup, f"{uri}#0")]
            cells += [types.NotebookCell(types.NotebookCellKind.Code, cell) for cell in texts]
            items = [types.TextDocumentItem(f"{uri}#0", types.LanguageKind.Markdown, 1, "# hi")]
            items += [types.TextDocumentItem(cell, types.LanguageKind.Python, 1, text) for cell, text in texts.items()]
            notebook = types.NotebookDocument(uri, "jupyter-notebook", 1, cells)
            editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
            await editor.until(lambda: set(texts) <= set(editor.diagnostics))
            assert {cell: codes(editor.diagnostics[cell]) for cell in texts} == {
                f"{uri}#1": [],
                f"{uri}#2": ["AGL301"],
                f"{uri}#3": [],
            }
            (found,) = editor.diagnostics[f"{uri}#2"]
            assert found.range.start == types.Position(2, 4)
            fix, hide, *_ = await editor.actions(f"{uri}#2", 2)
            assert await editor.edited(fix, texts) == {**texts, f"{uri}#2": FIXED}
            hidden = AGENT.replace("list(history)\n", "list(history)  # noqa: AGL301\n")
            assert await editor.edited(hide, texts) == {**texts, f"{uri}#2": hidden}
            assert (await editor.hover(f"{uri}#2", 2, 10)).startswith("# stale-history-snapshot")
            assert await editor.hover(f"{uri}#1", 2, 0) == ""

    run(session())


# -- the command --------------------------------------------------------------------------------------------------


def test_the_server_without_pygls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    monkeypatch.delitem(sys.modules, "lint_rules.server", raising=False)
    done = Project(tmp_path, monkeypatch, capsys).run("server")
    assert (done.code, done.out) == (2, "")
    assert done.err == 'looplint: error: the language server needs pygls: pip install "looplint[server]"\n'
