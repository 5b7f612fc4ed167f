"""The model asks to pay and to print a receipt. The printer is out of paper."""

from fake_model import Model, asks, call, install_openai, load, says

BUG = [20, 20, 20]
MENDED = [20]


def seen(program):
    """What is paid."""
    paid = []

    def pay(amount):
        paid.append(amount)
        return "paid"

    def print_receipt():
        raise OSError("out of paper")

    install_openai(Model([asks(call("pay", amount=20), call("print_receipt")), says("Paid.")]))
    load(program).Agent({"pay": pay, "print_receipt": print_receipt}, []).run("Pay 20 and print the receipt.")
    return paid
