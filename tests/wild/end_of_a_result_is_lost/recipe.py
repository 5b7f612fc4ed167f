"""A long run of tests, whose failure stands in the last line."""

from fake_model import Model, asks, call, install_openai, load, says

BUG = "All tests pass."
MENDED = "One test fails."


def reads_the_result(messages):
    if messages[-1]["role"] == "user":
        return asks(call("run_tests"))
    return says("One test fails." if "FAILED" in messages[-1]["content"] else "All tests pass.")


def seen(program):
    """What the model tells the user."""
    install_openai(Model(reads_the_result))
    log = "".join(f"test_{number} ... ok\n" for number in range(100)) + "FAILED test_100"
    return load(program).Agent({"run_tests": lambda given: log}, []).run("Do the tests pass?")
