"""Who calls whom: the frameworks that run a program's functions for their users, and which of those runs overlap.

One row a framework, with the place in its documentation that says so. A row names what registers a function; whose
`app` or `bot` an expression is, `anatomy.program.serving` works out from what is done with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Overlap = Literal["threads", "workers", "tasks", "turns", "processes"]
"""How runs of one handler overlap: `threads`: in threads of their own, or as tasks if it is a coroutine; `workers`: in
threads of their own, each with a loop for its coroutine; `tasks`: as tasks of one event loop, where a plain function
runs to its end; `turns`: one after the other; `processes`: so in each of several processes, which share what lies
outside."""

_NONE: frozenset[str] = frozenset()


class Framework(NamedTuple):
    """`packages` by the name that is imported; `source` says where `overlap` is documented, and for which version.

    A function is a handler if an attribute `decorators` of something of the package decorates it, if a call of
    `calls` on such a thing is handed it, if it is a method of a subclass of one of `methods` (`*` stands for any
    end or beginning), or if nobody in its file calls it and it has a parameter of a type of `events`. `lasting` are
    those of `methods` of which one object takes all events; `common` are the parts of what a handler gets, and the
    types of it, that other runs get, too. A keyword of `switches` (or a call of that name, in a
    builder) with this value makes `overlap` another. It `stops` a run when its user wants that.

    A function that one of `background` decorates runs beside the rest, whoever calls it. `one_user`: all that runs is
    of one user, who sits at the screen. A plain generator that one of `streams` is handed is read in a thread.
    One of `functions` is a handler by its name, which the framework is told, and by what it gets: an event and its
    context. One called as one of `first` comes before all others.
    """

    packages: frozenset[str]
    overlap: Overlap
    source: str
    decorators: frozenset[str] = _NONE
    calls: frozenset[str] = _NONE
    methods: Mapping[str, frozenset[str]] = {}
    lasting: frozenset[str] = _NONE
    events: frozenset[str] = _NONE
    common: frozenset[str] = _NONE
    switches: tuple[tuple[str, str, Overlap], ...] = ()
    stops: bool = False
    background: frozenset[str] = _NONE
    one_user: bool = False
    streams: frozenset[str] = _NONE
    functions: frozenset[str] = _NONE
    first: frozenset[str] = _NONE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_VERBS = _set("get post put patch delete head options")
_ON = _set(
    "on_message on_command on_interaction on_reaction_add on_message_edit on_voice_state_update on_ready on_mention"
)

_ONE_WORKER: tuple[tuple[str, str, Overlap], ...] = (
    ("max_workers", "1", "turns"),
    ("ThreadPoolExecutor", "1", "turns"),
)

FRAMEWORKS = (
    Framework(
        _set("fastapi starlette sse_starlette litestar robyn blacksheep"),
        "threads",
        "fastapi.tiangolo.com/async, 0.115: `def` runs in a thread pool, `async def` as a task for each request;"
        " starlette.io/responses, 0.41: so does a plain generator of a response",
        _VERBS | _set("route websocket api_route websocket_route middleware exception_handler websocket_listener"),
        _set("add_route add_api_route add_api_websocket_route add_websocket_route Route WebSocketRoute Depends"),
        {"HTTPEndpoint": _VERBS, "WebSocketEndpoint": _set("on_*"), "Controller": _NONE},
        events=_set("Request WebSocket"),
        common=_set("app"),
        streams=_set("StreamingResponse EventSourceResponse"),
    ),
    Framework(
        _set("flask flask_restful flask_restx flask_openapi3 flask_smorest flask_login apiflask dash"),
        "workers",
        "flask.palletsprojects.com, 3.0, `Flask.run(threaded=True)`, async-await: a thread for each request by default",
        _VERBS | _set("route before_request after_request callback"),
        _set("add_url_rule"),
        {"MethodView": _VERBS, "View": _set("dispatch_request"), "Resource": _VERBS},
        common=_set("current_app"),
        switches=(("threaded", "False", "turns"),),
    ),
    Framework(
        _set("quart sanic tornado falcon hypercorn"),
        "tasks",
        "quart.palletsprojects.com, 0.19; sanic.dev, 23.12: a task for each request on one loop",
        _VERBS | _set("route websocket"),
        _set("add_url_rule add_route add_websocket"),
        {"RequestHandler": _VERBS, "WebSocketHandler": _set("on_message open on_close"), "HTTPMethodView": _VERBS},
        events=_set("Request"),
    ),
    Framework(
        _set("aiohttp"),
        "tasks",
        "docs.aiohttp.org, 3.9, Web Server: each request is handled in a task",
        _VERBS | _set("route view"),
        _set("add_get add_post add_put add_patch add_delete add_route add_view get post put patch delete route view"),
        {"View": _VERBS},
        events=_set("Request"),
        common=_set("app"),
    ),
    Framework(
        _set("django rest_framework ninja channels"),
        "threads",
        "docs.djangoproject.com, 5.0, runserver and WSGI: requests in threads of one process",
        _VERBS | _set("api_view action csrf_exempt require_POST require_GET require_http_methods login_required"),
        _set("path re_path url"),
        {
            "*View": _VERBS | _set("dispatch form_valid get_context_data"),
            "*ViewSet": _VERBS | _set("list create retrieve update partial_update destroy perform_create"),
            "*Consumer": _set("receive connect receive_json"),
        },
        _set("HttpRequest WSGIRequest ASGIRequest"),
    ),
    Framework(
        _set("socketserver http"),
        "turns",
        "docs.python.org/3/library/socketserver: one request at a time unless the server is a Threading one",
        methods={
            "BaseHTTPRequestHandler": _set("do_*"),
            "SimpleHTTPRequestHandler": _set("do_*"),
            "BaseRequestHandler": _set("handle"),
            "StreamRequestHandler": _set("handle"),
        },
        common=_set("server"),
        switches=tuple((f"Threading{kind}", "", "threads") for kind in ("HTTPServer", "TCPServer", "MixIn")),
    ),
    Framework(
        _set("websockets"),
        "tasks",
        "websockets.readthedocs.io, 12: `serve` runs the handler once for each connection, in a task",
        calls=_set("serve unix_serve"),
    ),
    Framework(
        _set("socketio flask_socketio"),
        "threads",
        "python-socketio.readthedocs.io, 5: `async_handlers=True` runs each event in a thread or task of its own",
        _set("on event on_event"),
        _set("on_event on"),
        {"Namespace": _set("on_*"), "AsyncNamespace": _set("on_*")},
        lasting=_set("Namespace AsyncNamespace"),
        switches=(("async_handlers", "False", "turns"),),
    ),
    Framework(
        _set("grpc"),
        "threads",
        "grpc.github.io/grpc/python, 1.60: a server runs its methods in the pool that it is given",
        methods={"*Servicer": frozenset({"*"})},
        lasting=frozenset({"*Servicer"}),
        events=_set("ServicerContext"),
        switches=_ONE_WORKER,
    ),
    Framework(
        _set("functions_framework"),
        "threads",
        "cloud.google.com/functions, Python runtime: requests in threads of one instance, where concurrency is set",
        _set("http cloud_event"),
    ),
    Framework(_set("bottle"), "turns", "bottlepy.org, 0.12: the default server is a serial one", _VERBS | {"route"}),
    Framework(
        _set("discord nextcord disnake"),
        "tasks",
        "discordpy.readthedocs.io, 2.3: each event is dispatched in a task of its own",
        _set("event listen command slash_command hybrid_command message_command user_command context_menu listener"),
        _set("add_listener add_command"),
        {
            "Client": _ON | _set("on_*"),
            "AutoShardedClient": _set("on_*"),
            "Bot": _set("on_*"),
            "AutoShardedBot": _set("on_*"),
            "Cog": _set("on_message on_interaction"),
            "Modal": _set("on_submit"),
            "View": _set("on_*"),
        },
        common=_set("bot client"),
        lasting=_set("Client AutoShardedClient Bot AutoShardedBot Cog"),
        events=_set("Message Interaction ApplicationContext Context"),
        background=_set("loop"),
    ),
    Framework(
        _set("interactions botpy khl twitchio revolt guilded"),
        "tasks",
        "interactions-py.github.io, 5; twitchio.dev, 2: each event is dispatched in a task of its own",
        _set("event listen command slash_command on_message component_callback message_context_menu"),
        methods={"Client": _set("on_* event_*"), "Bot": _set("on_* event_*"), "Cog": _set("event_*")},
        lasting=_set("Client Bot Cog"),
    ),
    Framework(
        _set("aiogram"),
        "tasks",
        "docs.aiogram.dev, 3.4, `start_polling(handle_as_tasks=True)`: an update is handled in a task",
        _set("message callback_query edited_message inline_query business_message message_handler")
        | _set("callback_query_handler"),
        _set("register register_message_handler register_callback_query_handler"),
        events=_set("Message CallbackQuery"),
        common=_set("FSMContext"),
        switches=(("handle_as_tasks", "False", "turns"),),
    ),
    Framework(
        _set("hikari lightbulb arc tanjun crescent"),
        "tasks",
        "docs.hikari-py.dev, 2.0, `EventManager.dispatch`: each listener of an event runs in a task",
        _set("listen listener command implements slash_command message_command event"),
        _set("subscribe"),
        events=_set("MessageCreateEvent GuildMessageCreateEvent DMMessageCreateEvent InteractionCreateEvent"),
    ),
    Framework(
        _set("telebot"),
        "threads",
        "pytba.readthedocs.io, 4.15: `threaded=True`, two worker threads; `AsyncTeleBot`: tasks",
        _set("message_handler callback_query_handler inline_handler edited_message_handler channel_post_handler"),
        _set("register_message_handler register_callback_query_handler register_next_step_handler"),
        switches=(("threaded", "False", "turns"),),
    ),
    Framework(
        _set("pyrogram hydrogram"),
        "tasks",
        "docs.pyrogram.org, 2.0, `Client(workers=...)`: several workers on one loop",
        _set("on_message on_callback_query on_edited_message on_inline_query"),
        _set("MessageHandler CallbackQueryHandler"),
        events=_set("Message CallbackQuery"),
    ),
    Framework(
        _set("telethon"),
        "tasks",
        "docs.telethon.dev, 1.34, `sequential_updates=False`: a task for each update",
        _set("on"),
        _set("add_event_handler"),
        events=_set("NewMessage"),
        switches=(("sequential_updates", "True", "turns"),),
    ),
    Framework(
        _set("telegram"),
        "turns",
        "docs.python-telegram-bot.org, 20, Concurrency: one update after the other unless `concurrent_updates` is set",
        calls=_set("*Handler add_error_handler"),
        events=_set("Update"),
        common=_set("application bot_data chat_data user_data"),
        switches=(
            ("concurrent_updates", "*", "tasks"),
            ("block", "False", "tasks"),
            ("run_async", "True", "threads"),
        ),
    ),
    Framework(
        _set("slack_bolt"),
        "threads",
        "tools.slack.dev/bolt-python, 1.18: `App` runs listeners in a thread pool, `AsyncApp` as tasks",
        _set("message event command action shortcut view options middleware"),
        _set("message event command action shortcut view"),
        switches=_ONE_WORKER,
    ),
    Framework(
        _set("slack_sdk"),
        "threads",
        "tools.slack.dev/python-slack-sdk, 3.26, Socket Mode: listeners run in a pool of ten threads",
        calls=_set("socket_mode_request_listeners.append message_listeners.append"),
        switches=(("concurrency", "1", "turns"),),
    ),
    Framework(
        _set("linebot"),
        "threads",
        "github.com/line/line-bot-sdk-python, 3: the handler runs within a request of the web framework",
        _set("add default"),
    ),
    Framework(
        _set("nonebot"),
        "tasks",
        "nonebot.dev, 2: each event is handled in a task of its own",
        _set("handle got receive"),
    ),
    Framework(
        _set("vkbottle dingtalk_stream botbuilder"),
        "tasks",
        "vkbottle.readthedocs.io, 4; learn.microsoft.com, botbuilder 4: a task for each event or request",
        _set("message on_message private_message chat_message"),
        methods={
            "ActivityHandler": _set("on_message_activity on_turn"),
            "TeamsActivityHandler": _set("on_message_activity on_turn"),
            "ChatbotHandler": _set("process"),
        },
        lasting=_set("ActivityHandler TeamsActivityHandler ChatbotHandler"),
        events=_set("TurnContext"),
    ),
    Framework(
        _set("homeassistant"),
        "tasks",
        "developers.home-assistant.io, Conversation entity, 2024.12: one agent for all who talk, a task for each",
        methods={
            "ConversationEntity": _set("async_process _async_handle_message"),
            "AbstractConversationAgent": _set("async_process"),
        },
        lasting=_set("ConversationEntity AbstractConversationAgent"),
    ),
    Framework(
        _set("nio"),
        "turns",
        "matrix-nio.readthedocs.io, 0.24: `sync_forever` awaits one callback after the other",
        calls=_set("add_event_callback add_to_device_callback"),
    ),
    Framework(
        _set("zulip itchat paho pika"),
        "turns",
        "zulip.com/api, paho-mqtt 2.0, pika 1.3: one thread calls back for one message after the other",
        _set("msg_register"),
        _set("call_on_each_message call_on_each_event basic_consume message_callback_add"),
    ),
    Framework(
        _set("chainlit"),
        "turns",
        "docs.chainlit.io, 1.0, User Session: each session has one chat, which waits for its answer; on_stop: its task",
        _set("on_message on_chat_start on_chat_resume action_callback on_settings_update on_audio_end"),
        stops=True,
    ),
    Framework(
        _set("gradio"),
        "turns",
        "gradio.app/guides/queuing, 4: `concurrency_limit=1`, one run of an event at a time",
        _set("click submit change then success select input upload release load"),
        _set("click submit change then success select input upload release load ChatInterface Interface"),
    ),
    Framework(
        _set("textual"),
        "turns",
        "textual.textualize.io, 0.80, Workers: handlers and actions come one by one, a worker runs beside them",
        _set("on"),
        methods={"*": _set("on_* action_* key_* watch_*")},
        background=_set("work"),
        one_user=True,
        first=_set("on_load on_mount"),
    ),
    Framework(
        _set("prompt_toolkit"),
        "turns",
        "python-prompt-toolkit.readthedocs.io, 3.0, Key bindings: handlers are called one by one on the event loop",
        _set("add"),
        one_user=True,
    ),
    Framework(
        _set("tkinter customtkinter ttkbootstrap"),
        "turns",
        "docs.python.org/3/library/tkinter, Threading model: one thread calls back for one event after the other",
        calls=_set("Button CTkButton add_command bind bind_all protocol after"),
        one_user=True,
    ),
    Framework(
        _set("PyQt5 PyQt6 PySide2 PySide6"),
        "turns",
        "doc.qt.io/qt-6/threads-qobject: a slot runs in the thread of its object, one event after the other",
        calls=_set("connect singleShot"),
        one_user=True,
    ),
    Framework(
        _set("apscheduler fastapi_utils"),
        "turns",
        "apscheduler.readthedocs.io, 3.10: `max_instances=1`, one run of a job at a time, beside all else",
        background=_set("scheduled_job repeat_every"),
    ),
    Framework(
        _set("celery dramatiq huey rq django_rq django_tasks"),
        "processes",
        "docs.celeryq.dev, 5.4, Concurrency: a pool of processes, one for each core; dramatiq.io, 1.17;"
        " huey.readthedocs.io, 2.5; python-rq.org, 2.0, Workers: a job at a time in each of the workers",
        _set("task shared_task actor db_task job"),
        _set("enqueue enqueue_in enqueue_at"),
    ),
    Framework(
        _set("aws_lambda"),
        "processes",
        "docs.aws.amazon.com/lambda, Scaling: an environment for each of the invocations that come at the same time",
        functions=_set("lambda_handler"),
    ),
    Framework(
        _set("streamlit"),
        "turns",
        "docs.streamlit.io, 1.30, Execution model: each session runs the script in a thread of its own",
    ),
)  # fmt: skip


def common_parts(packages: set[str]) -> frozenset[str]:
    """The names of what is one for all handlers of these frameworks, as a part of what each of them gets."""
    return frozenset().union(*(row.common for row in FRAMEWORKS if not row.packages.isdisjoint(packages)))


SESSION_KEEPERS = {
    "streamlit": "Streamlit",
    "chainlit": "Chainlit",
    "nicegui": "NiceGUI",
    "flask": "Flask",
    "quart": "Quart",
}
"""Packages of which an object keeps things for each user (`st.session_state`), and which take errors of what they run.

Source: the documentation of each.
"""

ENTRIES = frozenset().union(*(row.functions for row in FRAMEWORKS))
"""The names of functions that a framework is told."""

PACKAGES = frozenset().union(*(row.packages for row in FRAMEWORKS))
"""What the file of a handler imports, or a file that it gets its `app` from."""
