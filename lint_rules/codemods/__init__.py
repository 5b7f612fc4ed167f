"""Fixes as libcst codemods, one command a rule, for those who run codemods. `looplint check --fix` does the same.

    python -m libcst.tool codemod -x looplint.codemods.shallow_message_copy.ShallowMessageCopyCommand PATH

`--no-format` is needed where libcst's formatter (black, unless a `.libcst.codemod.yaml` names another) is absent.
"""
