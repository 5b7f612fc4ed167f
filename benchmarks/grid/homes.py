"""Where a history lives between two turns, and how a message gets there.

A home may tell apart who speaks: then its file, made for the provider, makes the messages.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Home:
    """Texts of Python: `{m}` is a message, `{ms}` a list of them, `key` names the talk.

    In `heard` and `answered`, `{text}`, `{call}` and `{out}` stand for what `{m}` is made of; in `beside`, `USER`,
    `ANSWER` and `WRAP` for the provider's messages.
    """

    name: str
    module: str  # what the module needs
    open: str  # the first lines of a turn
    put: str
    every: str  # the whole history, as a list
    held: str  # the name that helpers get
    put_all: str = ""
    close: str = ""  # what a turn does before it leaves
    keep: str = ""  # only the last `{n}`
    beside: str = ""  # a second file, `shelf.py`
    heard: str = ""
    answered: str = ""
    plain: bool = False  # messages must be JSON
    lives: bool = True  # what was put stays when the turn fails


DICT = Home(
    "dict",
    "ROOMS = {}\n",
    "rows = ROOMS.setdefault(key, [])",
    "rows.append({m})",
    "rows",
    "rows",
    put_all="rows.extend({ms})",
    keep="rows[:] = rows[-{n}:]",
)
HELD = Home(
    "held",
    "class Room:\n    def __init__(self):\n        self.rows = []\n\n\nROOMS = {}\n",
    "room = ROOMS.setdefault(key, Room())",
    "room.rows.append({m})",
    "room.rows",
    "room",
    put_all="room.rows.extend({ms})",
    keep="room.rows = room.rows[-{n}:]",
)
SHELF = Home(
    "shelf",
    "from shelf{i} import Shelf\n\nSHELF = Shelf()\n",
    "",
    "SHELF.add(key, {m})",
    "SHELF.all(key)",
    "key",
    put_all="for item in {ms}:\n    SHELF.add(key, item)",
    keep="SHELF.keep(key, {n})",
    beside="""class Shelf:
    def __init__(self):
        self.places = {}

    def add(self, key, one):
        self.places.setdefault(key, []).append(one)

    def all(self, key):
        return self.places.get(key, [])

    def keep(self, key, most):
        self.places[key] = self.places.get(key, [])[-most:]
""",
)
FILE = Home(
    "file",
    """from pathlib import Path


def take_out(key):
    place = Path(f"{key}.json")
    return json.loads(place.read_text()) if place.exists() else []


def bring_back(key, rows):
    Path(f"{key}.json").write_text(json.dumps(rows))
""",
    "rows = take_out(key)",
    "rows.append({m})",
    "rows",
    "rows",
    put_all="rows.extend({ms})",
    close="bring_back(key, rows)",
    keep="rows = rows[-{n}:]",
    plain=True,
    lives=False,
)
TABLE = Home(
    "table",
    """import sqlite3

DESK = sqlite3.connect("rooms.db", check_same_thread=False)
DESK.execute("create table if not exists rows (id integer primary key, room text, body text)")


def keep(key, one):
    DESK.execute("insert into rows (room, body) values (?, ?)", (key, json.dumps(one)))
    DESK.commit()


def past(key, most=-1):
    found = DESK.execute("select body from rows where room = ? order by id desc limit ?", (key, most))
    return [json.loads(row[0]) for row in found][::-1]
""",
    "",
    "keep(key, {m})",
    "past(key)",
    "key",
    put_all="for item in {ms}:\n    keep(key, item)",
    plain=True,
)
REDIS = Home(
    "redis",
    "import redis\n\nPOOL = redis.Redis()\n",
    "",
    "POOL.rpush(key, json.dumps({m}))",
    "[json.loads(item) for item in POOL.lrange(key, 0, -1)]",
    "key",
    put_all="for item in {ms}:\n    POOL.rpush(key, json.dumps(item))",
    keep="POOL.ltrim(key, -{n}, -1)",
    plain=True,
)
TALK = Home(
    "talk",
    "from shelf{i} import Talk\n\nTALKS = {{}}\n",
    "talk = TALKS.setdefault(key, Talk())",
    "talk.spoke({m})",
    "talk.all()",
    "talk",
    put_all="talk.spoke_all({ms})",
    heard="talk.heard({text})",
    answered="talk.answered({call}, {out})",
    beside="""import time


class Talk:
    def __init__(self):
        self.rows = []
        self.touched = time.time()

    def heard(self, text):
        if text:
            self.rows.append(USER)
        self.touched = time.time()

    def spoke(self, said):
        self.rows.append(said)
        self.touched = time.time()
        return len(self.rows)

    def spoke_all(self, items):
        for item in items:
            self.rows.append(item)
        self.touched = time.time()

    def answered(self, one, out):
        self.rows.append(ANSWER)
        self.touched = time.time()

    def answered_all(self, got):
        if not got:
            return
        self.rows.append(WRAP)
        self.touched = time.time()

    def all(self):
        return list(self.rows)
""",
)
HOMES = (DICT, HELD, SHELF, FILE, TABLE, REDIS, TALK)
