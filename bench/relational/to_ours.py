#!/usr/bin/env python3
"""The peer's answers in our printing, so that two engines' answers can be compared line by line.

    scheme --script peer.scm F14a wrapped | to_ours.py                       to standard output
    scheme --script peer.scm F14a wrapped | to_ours.py --out F14a.txt

Reads one wrapped answer a line, `(VALUE (=/= ((X T) …) …) (num X …) (str X …) (sym X …) (absento (T X) …))`, and prints

    VALUE :where (=/= ?_0 5) (=/= (?_0 ?_1) (1 2)) (symbolo ?_0) (numbero ?_1) (stringo ?_2) (absento closure ?_3)

Constraints are sorted by their text within a kind, kinds in the order shown, the pairs of a disequality by theirs; between two
variables the one whose name is less stands first.
"""
import argparse
import re
import sys

QUOTES = {"'": "quote", "`": "quasiquote", ",": "unquote", ",@": "unquote-splicing"}
TOKEN = re.compile(r"""\s*([()\[\]]|,@|['`,]|"(?:[^"\\]|\\.)*"|[^\s()\[\]'`,"]+)""")
VARIABLE = re.compile(r"_\.\d+$")
NUMBER = re.compile(r"[+-]?\d+$")
TYPES = {"sym": "symbolo", "num": "numbero", "str": "stringo"}


class Dotted:
    """A list whose tail is neither a list nor ()."""

    def __init__(self, items, tail):
        self.items, self.tail = items, tail


def read(text):
    """One datum: an atom is its text, a list a Python list, a dotted list a Dotted."""
    tokens, pos = [], 0
    while pos < len(text.rstrip()):
        m = TOKEN.match(text, pos)
        if not m:
            raise ValueError(f"cannot read {text[pos:pos + 40]!r}")
        tokens.append(m.group(1))
        pos = m.end()
    # A frame is [items, tail, state]: state 0 items, 1 a dot was seen, 2 the frame is a quote that takes one datum.
    stack = [[[], None, 0]]

    def put(datum):
        while True:
            frame = stack[-1]
            if frame[2] == 1:
                frame[1] = datum
            else:
                frame[0].append(datum)
            if frame[2] != 2:
                return
            datum = stack.pop()[0]

    for t in tokens:
        if t in "([":
            stack.append([[], None, 0])
        elif t in QUOTES:
            stack.append([[QUOTES[t]], None, 2])
        elif t in ")]":
            items, tail, _ = stack.pop()
            if isinstance(tail, Dotted):
                put(Dotted(items + tail.items, tail.tail))
            elif isinstance(tail, list):
                put(items + tail)
            else:
                put(items if tail is None else Dotted(items, tail))
        elif t == "." and stack[-1][2] == 0:
            stack[-1][2] = 1
        else:
            put(t)
    if len(stack) != 1 or len(stack[0][0]) != 1:
        raise ValueError(f"not one datum: {text[:80]!r}")
    return stack[0][0][0]


def needs_bars(s):
    """The rule of etuple/printer.cc."""
    return (s == "let" or s[0] in "?%|" or s.startswith("#<") or (len(s) > 3 and s.startswith("..?"))
            or re.match(r"[+-]?\.?[0-9]", s) is not None or s in ("+inf.0", "-inf.0", "+nan.0", "-nan.0"))


def write_atom(a):
    if VARIABLE.match(a):
        return "?_" + a[2:]
    if NUMBER.match(a) or a[0] == '"':
        return a
    return f"|{a}|" if needs_bars(a) else a


def write(t):
    out, todo = [], [t]
    while todo:
        x = todo.pop()
        if isinstance(x, tuple):  # text already
            out.append(x[0])
        elif isinstance(x, str):
            out.append(write_atom(x))
        else:
            items = x if isinstance(x, list) else x.items
            todo.append((")",))
            if isinstance(x, Dotted):
                tail = write_atom(x.tail)
                todo.append((" .." + tail if VARIABLE.match(x.tail) else " .. " + tail,))
            for k in range(len(items) - 1, -1, -1):
                todo.append(items[k])
                if k:
                    todo.append((" ",))
            out.append("(")
    return "".join(out)


def disequality(pairs):
    """[(X T) …] with X a variable, as text."""
    texts = []
    for x, t in pairs:
        x, t = write(x), write(t)
        if t.startswith("?_") and t < x:
            x, t = t, x
        texts.append((f"{x} {t}", x, t))
    texts.sort()
    if len(texts) == 1:
        return f"(=/= {texts[0][0]})"
    return f"(=/= ({' '.join(x for _, x, _ in texts)}) ({' '.join(t for _, _, t in texts)}))"


def convert(answer):
    value, *constraints = answer
    lines = {k: [] for k in ("=/=", "symbolo", "numbero", "stringo", "absento")}
    for kind, *items in constraints:
        if kind == "=/=":
            lines["=/="] += [disequality(d) for d in items]
        elif kind == "absento":
            lines["absento"] += [f"(absento {write(t)} {write(x)})" for t, x in items]
        else:
            lines[TYPES[kind]] += [f"({TYPES[kind]} {write(x)})" for x in items]
    text = [c for k in lines for c in sorted(lines[k])]
    return " ".join([write(value)] + ([":where"] + text if text else []))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="file to write instead of standard output")
    args = parser.parse_args()
    with (open(args.out, "w", encoding="utf-8") if args.out else sys.stdout) as out:
        for line in sys.stdin:
            if line.strip():
                print(convert(read(line)), file=out)


if __name__ == "__main__":
    main()
