"""The command line: turns words into settings, and findings into words.

Imported at every start, so it imports little; of the commands, only the one that is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from lint_rules.cli.exit_codes import FAILED, NOTHING_FOUND, STOPPED
from lint_rules.cli.parser import COMMANDS, Command, UsageError, parser_of
from lint_rules.cli.terminal import complain, escape_unprintable, let_go, open_missing_streams
from lint_rules.errors import describe, reason
from lint_rules.layer import SettingsError, suggestion
from lint_rules.plugins.packages import PluginError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Whatever happens, no traceback reaches the user."""
    open_missing_streams()
    escape_unprintable()
    try:
        code = _run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPPED
    except BrokenPipeError:
        code = STOPPED
    except (UsageError, SettingsError, PluginError) as error:
        complain("error", str(error))
        code = FAILED
    except OSError as error:  # a full disk, say: no bug of ours
        complain("error", f"{error.filename or 'standard output'}: {reason(error)}")
        code = FAILED
    except BaseException as error:  # a panic in native code (libcst's parser) is no Exception
        complain("error", f"this is a bug in looplint, please report it: {describe(error)}")
        code = FAILED
    for stream in (sys.stdout, sys.stderr):
        let_go(stream)
    return code


def _run(words: list[str]) -> int:
    named = [name for name in COMMANDS if words[:1] == [name]]
    parser = parser_of(named or COMMANDS)  # of several, each costs as much as to check a small file
    if not words:
        parser.print_help(sys.stderr)
        return FAILED
    if words[0] not in COMMANDS and not words[0].startswith("-"):
        raise UsageError(_no_command(words[0]))
    try:
        args = parser.parse_args(words)
    except SystemExit:  # after --help and --version
        return NOTHING_FOUND
    if args.command is None:
        raise UsageError(f"expected a command: {', '.join(COMMANDS)}")
    command: Command = args.run
    return command(args)


def _no_command(word: str) -> str:
    if os.path.exists(word):
        return f"{word!r} is not a command; to check it: looplint check {word}"
    return f"{word!r} is not a command{suggestion(word, COMMANDS)}; the commands are {', '.join(COMMANDS)}"
