"""Which functions a framework calls for its users, and which of those runs overlap: one case a way, and its decoys."""

from __future__ import annotations

from textwrap import dedent

import pytest

from lint_rules.anatomy.agent import Anatomy
from lint_rules.anatomy.frameworks import FRAMEWORKS
from lint_rules.anatomy.vocabulary import Vocabulary
from lint_rules.syntax.module import SourceModule

WAYS = {
    "fastapi": (
        """
        import fastapi
        zeus = fastapi.FastAPI()
        @zeus.post('/chat')
        async def f(body): ...
        """,
        True,
    ),
    "flask": (
        """
        from flask import Flask as F
        x = F(__name__)
        @x.route('/chat', methods=['POST'])
        def f(): ...
        """,
        True,
    ),
    "serial flask": (
        """
        from flask import *
        import flask
        x = flask.Flask('a')
        @x.route('/')
        def f(): ...
        x.run(threaded=False)
        """,
        False,
    ),
    "blueprint": (
        """
        from flask import Blueprint
        chat = Blueprint('c', __name__)
        @chat.get('/')
        def f(): ...
        """,
        True,
    ),
    "websocket": (
        """
        from fastapi import APIRouter
        r = APIRouter()
        @r.websocket('/ws')
        async def f(ws): ...
        """,
        True,
    ),
    "django": (
        """
        from django.views.decorators.http import require_POST
        @require_POST
        def f(request): ...
        """,
        True,
    ),
    "aiogram": (
        """
        from aiogram import Dispatcher
        d = Dispatcher()
        @d.message()
        async def f(m): ...
        """,
        True,
    ),
    "telebot": (
        """
        import telebot
        x = telebot.TeleBot('t')
        @x.message_handler(commands=['a'])
        def f(m): ...
        """,
        True,
    ),
    "slack": (
        """
        from slack_bolt import App
        x = App()
        @x.event('app_mention')
        def f(event, say): ...
        """,
        True,
    ),
    "slack, one worker": (
        """
        from concurrent.futures import ThreadPoolExecutor
        from slack_bolt import App
        x = App(listener_executor=ThreadPoolExecutor(1))
        @x.event('app_mention')
        def f(event, say): ...
        """,
        False,
    ),
    "telethon": (
        """
        from telethon import TelegramClient, events
        c = TelegramClient('a', 1, 'b')
        @c.on(events.NewMessage)
        async def f(e): ...
        """,
        True,
    ),
    "chainlit": (
        """
        import chainlit as cl
        @cl.on_message
        async def f(m): ...
        """,
        False,
    ),
    "socket.io": (
        """
        import socketio
        s = socketio.AsyncServer()
        @s.event
        async def f(sid, data): ...
        """,
        True,
    ),
    "attribute": (
        """
        import discord
        class A:
            def __init__(self):
                self.b = discord.Client()
            def go(self):
                @self.b.event
                async def f(m): ...
        """,
        True,
    ),
    "parameter": (
        """
        from discord.ext import commands
        def setup(b: commands.Bot):
            @b.command()
            async def f(ctx): ...
        """,
        True,
    ),
    "return": (
        """
        import fastapi
        def make():
            x = fastapi.FastAPI()
            return x
        y = make()
        @y.get('/')
        def f(): ...
        """,
        True,
    ),
    "own class": (
        """
        import discord
        class C(discord.Client): ...
        c = C()
        @c.event
        async def f(m): ...
        """,
        True,
    ),
    "other file": (
        """
        from fastapi import Request
        from .core import web
        @web.post('/chat')
        async def f(x): ...
        """,
        True,
    ),
    "sub-object": (
        """
        import discord
        c = discord.Client()
        t = discord.app_commands.CommandTree(c)
        @t.command()
        async def f(i): ...
        """,
        True,
    ),
    "aiohttp": (
        """
        from aiohttp import web
        x = web.Application()
        async def f(r): ...
        x.router.add_post('/', f)
        """,
        True,
    ),
    "starlette": (
        """
        from starlette.routing import Route
        async def f(r): ...
        routes = [Route('/', endpoint=f)]
        """,
        True,
    ),
    "telegram": (
        """
        from telegram.ext import Application, MessageHandler
        async def f(u, c): ...
        x = Application.builder().build()
        x.add_handler(MessageHandler(None, f))
        """,
        False,
    ),
    "telegram, tasks": (
        """
        from telegram.ext import Application, MessageHandler
        async def f(u, c): ...
        x = Application.builder().concurrent_updates(True).build()
        x.add_handler(MessageHandler(None, f))
        """,
        True,
    ),
    "telegram, not": (
        """
        from telegram.ext import Application, MessageHandler
        async def f(u, c): ...
        x = Application.builder().concurrent_updates(False).build()
        x.add_handler(MessageHandler(None, f))
        """,
        False,
    ),
    "gradio": (
        """
        import gradio as gr
        def f(x): ...
        with gr.Blocks() as b:
            t = gr.Textbox()
            t.submit(f, t, t)
        """,
        False,
    ),
    "websockets": (
        """
        import websockets
        async def f(ws): ...
        server = websockets.serve(f, 'localhost', 1)
        """,
        True,
    ),
    "socket mode": (
        """
        from slack_sdk.socket_mode import SocketModeClient
        c = SocketModeClient('a')
        def f(client, request): ...
        c.socket_mode_request_listeners.append(f)
        """,
        True,
    ),
    "dependency": (
        """
        from fastapi import Depends
        def f(): ...
        def other(x=Depends(f)): ...
        """,
        True,
    ),
    "client": (
        """
        import discord
        class C(discord.Client):
            async def f(self): ...
            async def on_message(self, m): ...
        """,
        True,
    ),
    "between": (
        """
        from discord.ext.commands import Cog
        class B(Cog): ...
        class C(B):
            async def on_message(self, m): ...
        """,
        True,
    ),
    "view": (
        """
        from flask.views import MethodView
        class C(MethodView):
            def post(self): ...
        """,
        True,
    ),
    "server": (
        """
        from http.server import BaseHTTPRequestHandler
        class C(BaseHTTPRequestHandler):
            def do_POST(self): ...
        """,
        False,
    ),
    "threads": (
        """
        from http.server import BaseHTTPRequestHandler as B, ThreadingHTTPServer
        class C(B):
            def do_POST(self): ...
        ThreadingHTTPServer(('', 80), C)
        """,
        True,
    ),
    "grpc": (
        """
        import grpc
        import chat_pb2_grpc
        class C(chat_pb2_grpc.ChatServicer):
            def Send(self, request, context: grpc.ServicerContext): ...
        """,
        True,
    ),
    "decorator that is called": (
        """
        from slack_bolt.async_app import AsyncApp
        class C:
            def __init__(self):
                self.x = AsyncApp()
                self.x.event('app_mention')(self.f)
            async def f(self, event): ...
        """,
        True,
    ),
    "table of views": (
        """
        from aiohttp import web
        async def f(request): ...
        VIEWS = {'/chat': f}
        def g():
            app = web.Application()
            for path, view in VIEWS.items():
                app.router.add_post(path, view)
        """,
        True,
    ),
    "a voice of a house": (
        """
        from homeassistant.components import conversation
        class Voice(conversation.ConversationEntity):
            async def async_process(self, asked): ...
            async def async_added_to_hass(self): ...
        """,
        True,
    ),
    "event": (
        """
        import discord
        async def f(message: discord.Message): ...
        """,
        True,
    ),
}

DECOYS = {
    "a cache's get": """
    import fastapi
    from diskcache import Cache
    c = Cache()
    @c.get('k')
    def f(): ...
    """,
    "a mock's patch": """
    import flask
    from unittest import mock
    @mock.patch('/a')
    def f(): ...
    """,
    "an object of this file": """
    import fastapi
    class App:
        def get(self, p): ...
    app = App()
    @app.get('/a')
    def f(): ...
    """,
    "another package's command": """
    import discord
    import click
    @click.command()
    def f(): ...
    if __name__ == '__main__':
        f()
    """,
    "a method of the name": """
    import discord
    class Log:
        async def on_message(self, m): ...
    """,
    "a pool's submit": """
    import gradio
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor() as x:
        def f(): ...
        x.submit(f)
    """,
    "a log's handler": """
    from telegram import Update
    import logging
    def f(): ...
    logging.StreamHandler(f)
    """,
    "a client's request": """
    import aiohttp
    import fastapi
    async def f(): ...
    async def g(s):
        async with s.get('/a') as r: ...
    """,
    "a helper that is called": """
    import discord
    async def f(m: discord.Message): ...
    async def g():
        await f(1)
    """,
    "a function that only its own registry has": """
    import telebot
    known = []
    def keep(g):
        known.append(g)
        return g
    @keep
    def f(message): ...
    """,
    "a framework of the project": """
    from .discord import Client
    class C(Client):
        async def on_message(self, m): ...
    """,
}


def _servings(source: str) -> dict[str, bool]:
    anatomy = Anatomy(SourceModule(dedent(source), "a.py"), Vocabulary())
    return {function.name: how.concurrent for function, how in anatomy.calls.servings.items()}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_to_be_called(way: str) -> None:
    source, concurrent = WAYS[way]
    served = _servings(source)
    assert list(served.values()) == [concurrent], served


@pytest.mark.parametrize("decoy", DECOYS)
def test_what_only_looks_like_it_serves_nobody(decoy: str) -> None:
    assert _servings(DECOYS[decoy]) == {}


def test_a_plain_function_is_not_interrupted_on_one_loop() -> None:
    source = "from sanic import Sanic\nx = Sanic('a')\n@x.get('/')\n{}def f(r): ..."
    assert [_servings(source.format(word)) for word in ("", "async ")] == [{"f": False}, {"f": True}]


def test_a_lambda_serves() -> None:
    source = "import gradio as gr\nb = gr.Button()\nb.click(lambda x: x, b)"
    assert list(_servings(source)) == ["<lambda>"]


def test_each_row_says_where_it_is_documented() -> None:
    assert [row for row in FRAMEWORKS if "." not in row.source] == []
    packages = [package for row in FRAMEWORKS for package in row.packages]
    assert len(packages) == len(set(packages))
