"""The editor door: a language server. What editors have open is checked as it stands there, saved or not."""

from __future__ import annotations

import asyncio
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from tokenize import detect_encoding
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec

from lint_rules import __version__, check, files
from lint_rules.configuration import layer_of
from lint_rules.errors import describe
from lint_rules.finding import NOT_ANALYSED, UNUSED_NOQA, Finding, Span
from lint_rules.fix import each_fix, fix_source
from lint_rules.ignores import ignored
from lint_rules.layer import Layer, SettingsError
from lint_rules.lines import lines_of
from lint_rules.noqa import add_noqa, unused_noqa
from lint_rules.notebook import Cells, program_of
from lint_rules.options import Wish
from lint_rules.output.hunks import hunks
from lint_rules.rules.catalogue import by_code
from lint_rules.settings import Resolver, Settings

PAUSE = 0.3
"""Seconds without a change before a text is checked: nobody wants to hear of half a line."""
FIX_ALL = types.CodeActionKind(types.CodeActionKind.SourceFixAll)
FIX_ALL_OURS = f"{types.CodeActionKind.SourceFixAll.value}.looplint"

_CODE = re.compile(r"\b[A-Z]{1,3}\d{3}\b")
_WARNINGS = {"safe": "", "unsafe": " (unsafe: read the change)", "display": " (a choice: adapt the change)"}

Result = TypeVar("Result")


class Document(NamedTuple):
    """What is open in an editor: one file, or a notebook, whose cells are texts of their own."""

    path: str
    program: bytes
    texts: dict[str, str]
    """By URI."""
    cells: dict[int, str] | None = None
    """The URIs of a notebook's code cells, by their numbers from 1 among all cells."""

    def place(self, line: int) -> tuple[str, int]:
        """The URI of the text that a line (from 1) of the program stands in, and its line there."""
        if self.cells is None:
            return next(iter(self.texts)), line
        cell, line = Cells(self.program.decode()).place(line)
        return self.cells[cell], line

    def after(self, program: bytes) -> dict[str, str]:
        """The texts as they are in another program."""
        if self.cells is None:
            is_whole = [files.decode(self.program)] == list(self.texts.values())  # not all can be saved as they say
            return dict.fromkeys(self.texts, files.decode(program)) if is_whole else self.texts
        here, there = Cells(self.program.decode()), Cells(program.decode())
        changed = {uri: there.text(cell) for cell, uri in self.cells.items() if there.text(cell) != here.text(cell)}
        return {**self.texts, **{uri: text + "\n" * self.texts[uri].endswith("\n") for uri, text in changed.items()}}


class Checked(NamedTuple):
    """A document, and what was found in it."""

    document: Document
    findings: tuple[Finding, ...] = ()
    settings: Settings | None = None
    options: check.Options = check.Options(frozenset())

    def actions(self, uri: str, span: Span) -> Iterator[Finding]:
        """The findings that touch some lines of a text."""
        for finding in self.findings:
            first = self.document.place(finding.span.line)
            last = first[1] + finding.span.end_line - finding.span.line
            if first[0] == uri and first[1] <= span.end_line and span.line <= last:
                yield finding


class Server(LanguageServer):
    """Keeps what is open, and what was found in it."""

    def __init__(self) -> None:
        super().__init__("looplint", __version__, types.TextDocumentSyncKind.Full, _NOTEBOOKS)
        self.checked: dict[str, Checked] = {}
        """By the URI of the file or notebook."""
        self._resolver = Resolver(Layer(os.getcwd()))
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, set[str]] = {}
        """By the URI of a file or notebook, those of the texts that diagnostics were sent for."""
        self._worker = ThreadPoolExecutor(max_workers=1)  # the analysis wants a process to itself, not several threads

    # -- settings -------------------------------------------------------------------------------------------------

    def configure(self, said: Any) -> None:
        """Take settings from the editor; they beat configuration files. What is wrong with them is shown."""
        table = _settings_in(said)
        root = self.workspace.root_path or os.getcwd()
        config = table.pop("config", None)
        try:
            layer = layer_of(table, os.path.join(root, "settings"))
        except SettingsError as error:
            self._tell(f"the settings of the editor: {error.message}")
            return
        try:
            path = None if config is None else os.path.join(root, os.path.expanduser(str(config)))
            self._resolver = Resolver(layer, config=path)
        except SettingsError as error:
            self._tell(str(error))

    def reread(self) -> None:
        """Configuration files have changed: forget what they said, and check all that is open."""
        self._resolver = self._resolver.again()
        for uri in self._open():
            self.plan(uri, 0)

    def _tell(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"looplint: {message}"))

    # -- checking -------------------------------------------------------------------------------------------------

    def plan(self, uri: str, pause: float) -> None:
        """Check a file or notebook after a pause, unless it changes before."""
        if earlier := self._waiting.pop(uri, None):
            earlier.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._check(uri, pause))

    async def _check(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        document = self.document(uri)
        try:
            checked = await self.work(lambda: self._found(document))
        except SettingsError as error:
            self._tell(str(error))
            checked = Checked(document)
        if self.document(uri) == document:  # else a later check is on its way
            self.checked[uri] = checked
            self._publish(uri, checked)

    async def work(self, function: Callable[[], Result]) -> Result:
        """What a function gives that takes its time."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, function)

    def _found(self, document: Document) -> Checked:
        settings = self._resolver.settings(os.path.dirname(document.path))
        if settings.excludes_with_parents(document.path) or ignored(document.path, False):
            return Checked(document)
        files.forget_neighbours()
        options = settings.options(document.path)
        report = check.check_source(document.program, document.path, options, neighbours=self.neighbours)
        findings = report.findings
        if settings.report_unused_noqa and b"noqa" in document.program:
            bare = check.check_source(document.program, document.path, options, neighbours=self.neighbours, noqa=False)
            text = files.decode(document.program)
            findings += tuple(unused_noqa(text, document.path, bare.findings, options.codes))
        return Checked(document, findings, settings, options)

    def neighbours(self, path: str, module: str) -> tuple[str, bytes] | None:
        """The modules nearby, as the editor has them where it has them open."""
        found = files.neighbours(path, module)
        uri = from_fs_path(os.path.abspath(found[0])) if found is not None else None
        if found is None or uri not in self.workspace.text_documents:
            return found
        return found[0], _encoded(self.workspace.text_documents[uri].source)

    # -- what is open ---------------------------------------------------------------------------------------------

    def _open(self) -> list[str]:
        notebooks = self.workspace.notebook_documents
        cells = {cell.document for notebook in notebooks.values() for cell in notebook.cells}
        return [*notebooks, *(uri for uri in self.workspace.text_documents if uri not in cells)]

    def document(self, uri: str) -> Document:
        """What is open under the URI of a file or notebook."""
        notebook = self.workspace.notebook_documents.get(uri)
        if notebook is None:
            text = self.workspace.get_text_document(uri)
            return Document(_path(uri), _encoded(text.source), {uri: text.source})
        texts = {
            number: self.workspace.get_text_document(cell.document)
            for number, cell in enumerate(notebook.cells, 1)
            if cell.kind == types.NotebookCellKind.Code
        }
        python = {number: text for number, text in texts.items() if text.language_id in (None, "python")}
        program = program_of((number, text.source) for number, text in python.items())
        uris = {number: text.uri for number, text in python.items()}
        return Document(_path(uri), program, {text.uri: text.source for text in python.values()}, uris)

    def owner(self, uri: str) -> str:
        """The URI of the notebook that a text is a cell of, or of the text itself."""
        for notebook in self.workspace.notebook_documents.values():
            if any(cell.document == uri for cell in notebook.cells):
                return str(notebook.uri)
        return uri

    def closed(self, uri: str) -> None:
        """Forget a file or notebook."""
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self.checked.pop(uri, None)
        for text in self._shown.pop(uri, ()):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text, []))

    # -- what is shown --------------------------------------------------------------------------------------------

    def _publish(self, uri: str, checked: Checked) -> None:
        by_text: dict[str, list[types.Diagnostic]] = {text: [] for text in checked.document.texts}
        for finding in checked.findings:
            by_text[checked.document.place(finding.span.line)[0]].append(self.diagnostic(checked, finding))
        for text in self._shown.get(uri, set()) - set(by_text):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text, []))
        self._shown[uri] = set(by_text)
        for text, diagnostics in by_text.items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text, diagnostics))

    def diagnostic(self, checked: Checked, finding: Finding) -> types.Diagnostic:
        """A finding as editors show it."""
        related = []
        for note in finding.related:
            place = self.location(checked.document, note.span, note.path)
            related.append(types.DiagnosticRelatedInformation(place, note.message))
        advice = f"\n{finding.help}" if finding.help else ""
        return types.Diagnostic(
            range=self.location(checked.document, finding.span).range,
            message=f"{finding.message}{advice}",
            severity=_severity(finding.code),
            code=finding.code,
            source="looplint",
            tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_NOQA else None,
            related_information=related,
        )

    def location(self, document: Document, span: Span, path: str | None = None) -> types.Location:
        """A place in a document, or in the file at another path."""
        if path is None:
            uri, line = document.place(span.line)
            return types.Location(uri, self.range(document.texts[uri], span, line - span.line))
        uri = from_fs_path(os.path.abspath(path)) or path
        return types.Location(uri, self.range(self._text_of(uri, path), span))

    def _text_of(self, uri: str, path: str) -> str:
        if uri in self.workspace.text_documents:
            return str(self.workspace.text_documents[uri].source)
        try:
            return files.decode(files.read(path))
        except OSError:
            return ""

    def range(self, text: str, span: Span, shift: int = 0) -> types.Range:
        """A span in a text, so many lines further down, in the units of the client."""
        lines = lines_of(text)
        codec = self.workspace.position_codec

        def position(line: int, column: int) -> types.Position:
            index = min(max(line + shift - 1, 0), len(lines) - 1)
            return types.Position(max(line + shift - 1, 0), codec.client_num_units(lines[index][: max(column - 1, 0)]))

        return types.Range(position(span.line, span.column), position(span.end_line, span.end_column))

    def edit(self, document: Document, program: bytes) -> types.WorkspaceEdit:
        """What changes the texts of a document into those of another program."""
        after = document.after(program)
        changes = {
            uri: [types.TextEdit(self.range(text, span), new) for span, new in hunks(text, after[uri])]
            for uri, text in document.texts.items()
        }
        return types.WorkspaceEdit(changes={uri: edits for uri, edits in changes.items() if edits})

    # -- what is offered ------------------------------------------------------------------------------------------

    def offers(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The actions for some lines of a text, without their edits."""
        uri = params.text_document.uri
        checked = self.checked.get(self.owner(uri))
        if checked is None or checked.settings is None or self.document(self.owner(uri)) != checked.document:
            return
        wish = Wish(unsafe=True, codes=checked.settings.fixable, display=True)
        only = params.context.only
        lines = Span(params.range.start.line + 1, 1, params.range.end.line + 1, 1)
        for finding in checked.actions(uri, lines) if _wants(only, types.CodeActionKind.QuickFix.value) else ():
            diagnostics = [self.diagnostic(checked, finding)]
            if finding.fix is not None and wish.takes(finding.code, finding.fix):
                title = f"{finding.code}: {finding.fix.title}{_WARNINGS[finding.fix.applicability]}"
                is_safe = finding.fix.applicability == "safe"
                yield _action(title, uri, "fix", finding, diagnostics, is_preferred=is_safe)
            if finding.code in by_code():
                yield _action(f"{finding.code}: hide it with a `# noqa` comment", uri, "noqa", finding, diagnostics)
        if _wants(only, FIX_ALL_OURS) and any(Wish(codes=wish.codes).takes(f.code, f.fix) for f in checked.findings):
            kind = types.CodeActionKind.SourceFixAll if only and FIX_ALL in only else FIX_ALL_OURS
            yield types.CodeAction("looplint: apply all safe fixes", kind=kind, data={"uri": uri, "what": "all"})

    def resolved(self, action: types.CodeAction) -> types.CodeAction:
        """An action with its edit; as it came if the text has changed meanwhile, or its fix does not work out."""
        data: dict[str, Any] = dict(action.data or {})
        checked = self.checked.get(self.owner(data.get("uri", "")))
        if checked is None or checked.settings is None:
            return action
        program = self._mended(checked, checked.settings, data)
        if program is not None:
            action.edit = self.edit(checked.document, program)
        return action

    def _mended(self, checked: Checked, settings: Settings, data: dict[str, Any]) -> bytes | None:
        document, options = checked.document, checked.options
        if data["what"] == "all":
            wish = Wish(codes=settings.fixable)
            return fix_source(document.program, document.path, options, wish, neighbours=self.neighbours).source

        def is_meant(finding: Finding) -> bool:
            return bool([finding.code, *finding.span] == data["finding"])

        if data["what"] == "noqa":
            return add_noqa(document.program, filter(is_meant, checked.findings))[0]
        fixes = each_fix(document.program, document.path, options, is_meant, neighbours=self.neighbours)
        return next((program for _, program in fixes), None)

    def page(self, params: types.HoverParams) -> types.Hover | None:
        """The page of the rule that a place tells of: by a finding, or by its code in a comment."""
        uri = params.text_document.uri
        text = self.workspace.get_text_document(uri)
        line = lines_of(text.source)[params.position.line : params.position.line + 1]
        codec: PositionCodec = self.workspace.position_codec
        for code in _CODE.finditer(line[0]) if line else ():
            ends = [codec.client_num_units(line[0][:at]) for at in code.span()]
            if ends[0] <= params.position.character <= ends[1] and code[0] in by_code():
                return _hover(code[0])
        checked = self.checked.get(self.owner(uri))
        for finding in checked.findings if checked is not None and uri in checked.document.texts else ():
            place = self.location(checked.document, finding.span) if checked is not None else None
            if place is not None and place.uri == uri and finding.code in by_code() and _covers(place.range, params):
                return _hover(finding.code, place.range)
        return None


_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])]
)


def _wants(only: Iterable[types.CodeActionKind | str] | None, kind: str) -> bool:
    """Whether a client that wants these kinds `only` wants this one: kinds are prefixes of kinds."""
    if only is None:
        return True
    words = [str(getattr(word, "value", word)) for word in only]
    return any(not word or kind == word or kind.startswith(f"{word}.") for word in words)


def _action(
    title: str,
    uri: str,
    what: str,
    finding: Finding,
    diagnostics: list[types.Diagnostic],
    is_preferred: bool | None = None,
) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=diagnostics,
        is_preferred=is_preferred,
        data={"uri": uri, "what": what, "finding": [finding.code, *finding.span]},
    )


def _severity(code: str) -> types.DiagnosticSeverity:
    if code == NOT_ANALYSED:
        return types.DiagnosticSeverity.Error
    is_default = code in by_code() and by_code()[code].default
    return types.DiagnosticSeverity.Warning if is_default else types.DiagnosticSeverity.Information


def _hover(code: str, range: types.Range | None = None) -> types.Hover:
    page = by_code()[code].page().strip()
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, page), range)


def _covers(range: types.Range, params: types.HoverParams) -> bool:
    at: tuple[int, int] = params.position.line, params.position.character
    start, end = range.start, range.end
    return bool((start.line, start.character) <= at <= (end.line, end.character))


def _settings_in(said: Any) -> dict[str, Any]:
    """The table of options in what an editor sends: also under our name, also in camel case."""
    for wrapper in ("looplint", "settings"):
        if isinstance(said, dict) and isinstance(said.get(wrapper), dict):
            said = said[wrapper]
    table = said if isinstance(said, dict) else {}
    return {re.sub("[A-Z]", lambda capital: f"-{capital[0].lower()}", name): value for name, value in table.items()}


def _path(uri: str) -> str:
    """Where a text lies; one that was never saved, in the current folder."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.abspath(path or "untitled.py")


def _encoded(text: str) -> bytes:
    """The bytes of a text, as its coding line says."""
    try:
        encoding, _ = detect_encoding(io.BytesIO(text.encode()).readline)
        return text.encode(encoding)
    except (SyntaxError, LookupError, UnicodeError):
        return text.encode("utf-8", "replace")


# -- the protocol -------------------------------------------------------------------------------------------------


def make() -> Server:
    """A server that has not been started."""
    server = Server()

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.configure(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, params: types.InitializedParams) -> None:
        watched = ls.client_capabilities.workspace and ls.client_capabilities.workspace.did_change_watched_files
        if watched and watched.dynamic_registration:
            patterns = [types.FileSystemWatcher(pattern) for pattern in ("**/pyproject.toml", "**/.gitignore")]
            options = types.DidChangeWatchedFilesRegistrationOptions(patterns)
            one = types.Registration("looplint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await ls.client_register_capability_async(types.RegistrationParams([one]))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        ls.configure(params.settings)
        ls.reread()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        ls.reread()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.plan(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.plan(params.text_document.uri, PAUSE)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        for uri in ls.checked:  # what one file says of another may have changed
            ls.plan(uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
        ls.plan(params.notebook_document.uri, 0)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
        ls.plan(params.notebook_document.uri, PAUSE)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
        ls.closed(params.notebook_document.uri)

    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll, FIX_ALL_OURS]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds, resolve_provider=True))
    async def actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        offers = list(ls.offers(params))
        if _can_resolve(ls.client_capabilities):
            return offers
        return [action for action in await ls.work(lambda: list(map(ls.resolved, offers))) if action.edit is not None]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(ls: Server, params: types.CodeAction) -> types.CodeAction:
        try:
            return await ls.work(lambda: ls.resolved(params))
        except Exception as error:
            ls.window_log_message(types.LogMessageParams(types.MessageType.Error, describe(error)))
            return params

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        return ls.page(params)

    return server


def _can_resolve(client: types.ClientCapabilities) -> bool:
    """Whether a client asks for the edit of an action when somebody chooses it."""
    actions = client.text_document and client.text_document.code_action
    return bool(actions and actions.resolve_support and "edit" in actions.resolve_support.properties)


def serve() -> None:
    """Serve one editor on standard input and output, until it leaves."""
    make().start_io()
