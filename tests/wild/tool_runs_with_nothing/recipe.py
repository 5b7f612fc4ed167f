"""The model's call is cut off in the middle of its JSON: the one argument that narrows the tool down is lost."""

from fake_model import Model, asks, call, install_openai, load, raw_call, says

BUG = ["everything"]
MENDED = ["drafts"]


def seen(program):
    """What the tool has deleted."""
    broken = asks(raw_call("delete", '{"folder": "dra'))
    install_openai(Model([broken, asks(call("delete", folder="drafts")), says("Deleted.")]))
    deleted = []

    def delete(folder="everything"):
        deleted.append(folder)
        return f"deleted {folder}"

    load(program).Clerk({"delete": delete}, []).answer("Delete my drafts.")
    return deleted[:1]
