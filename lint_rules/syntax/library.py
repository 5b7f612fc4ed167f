"""What functions of Python's library, of its usual HTTP clients and of Pydantic raise for what they are given.

Sources: the library reference of Python, the pages on exceptions of Requests, HTTPX and Pydantic.
"""

from __future__ import annotations

import libcst as cst

from lint_rules.syntax import expressions as ex
from lint_rules.syntax.module import SourceModule

_NUMBER = frozenset({"ValueError", "TypeError", "ArithmeticError"})
_FILE = frozenset(
    {
        "OSError", "IOError", "EnvironmentError", "FileNotFoundError", "PermissionError", "IsADirectoryError",
        "NotADirectoryError", "UnicodeDecodeError", "UnicodeError",
    }
)  # fmt: skip
_COMMAND = frozenset({"SubprocessError", "TimeoutExpired", "CalledProcessError"})
_REQUEST = frozenset(
    {"RequestException", "ConnectionError", "Timeout", "HTTPError", "RequestError", "TransportError", "URLError"}
) | {"TimeoutError", "TimeoutException", "OSError"}
_INVALID = frozenset({"ValidationError", "ValueError"})
_METHODS = {
    **dict.fromkeys(("read_text", "write_text", "read_bytes", "write_bytes", "iterdir"), _FILE),
    **dict.fromkeys(("model_validate", "model_validate_json", "validate_python", "validate_json"), _INVALID),
}
"""Methods of `pathlib.Path`, of models and type adapters."""
_RAISED = {
    **dict.fromkeys(("int", "float"), _NUMBER),
    **dict.fromkeys(("open", "os.listdir", "os.remove", "os.scandir", "shutil.copy", "shutil.move"), _FILE),
    **dict.fromkeys(("subprocess.run", "subprocess.check_output", "subprocess.check_call"), _COMMAND),
    "urllib.request.urlopen": _REQUEST,
    **{
        f"{client}.{verb}": _REQUEST
        for client in ("requests", "httpx")
        for verb in ("get", "post", "put", "patch", "delete", "request")
    },
}


def raised(module: SourceModule, call: cst.Call) -> frozenset[str]:
    """The classes of errors that a call raises where what it is given is not fit, bases included; none if unknown."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in _METHODS:
        return _METHODS[call.func.attr.value]
    name = module.imports.resolve(ex.dotted(call.func) or "")
    if name == "subprocess.run" and not {"timeout", "check"} & ex.keywords(call).keys():
        return frozenset()
    return _RAISED.get(name, frozenset())
