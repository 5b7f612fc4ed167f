"""# x"""


def check(a):
    return iter(())
