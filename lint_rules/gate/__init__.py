"""The gate: which rules could find anything in a file, judged without libcst, which costs ten times `ast.parse`.

Two looks, at the bytes and at the `ast`. Each may let a file pass in which nothing is found, never the other way
round: what is asked for here is what a rule cannot do without, in any form and at any place. A rule that this room
does not know needs signs of an agent, no more.

    mentions       the look at the bytes
    signs          what stands in a file: nodes by kind, words, a few forms made of them
    evidence       where facts begin: without one of these forms, no value is known as a part of an agent
    surroundings   evidence in the files that a file imports from
    needs          what single rules cannot do without, beside such a value; forms and schemas are single nodes of it
    speaking       the table: which rule needs what
"""
