#!/usr/bin/env python3
"""The relational workloads beside faster-miniKanren under Chez Scheme, one after the other in one run.

  bench/relational/compare.py RETUPLE [--rounds N] [--filter NAME,…] [--slow]

For each: our median time and the peer's in ms (the peer's is thread CPU time; ours the wall time of compiling, searching and making the
answers), their ratio, and whether the answers are equal, in order. The last lines are the geometric mean and the largest ratio.
`--slow` adds F21 (half a minute in Scheme). Exit status 1 if answers differ. The peer is a checkout at build/peers/faster-minikanren or
RETUPLE_MK_DIR; without it, or without `scheme`, our times alone.
"""
import argparse, json, math, os, pathlib, shutil, subprocess, sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("retuple")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--filter", default="")
    parser.add_argument("--slow", action="store_true")
    args = parser.parse_args()
    mk = pathlib.Path(os.environ.get("RETUPLE_MK_DIR", root / "build/peers/faster-minikanren"))
    peer = shutil.which("scheme") and mk.exists()
    if not peer:
        print("skipped: faster-miniKanren (needs the package chezscheme and a checkout)")
    ratios, differ = {}, 0
    print(f"{'workload':10} {'answers':>8} {'ours ms':>10} {'peer ms':>10} {'ratio':>7}  answers")
    names = [p.stem for p in here.glob("F*.mk")]
    names.sort(key=lambda n: (int("".join(c for c in n if c.isdigit())), n))
    for name in names:
        if args.filter and name not in args.filter.split(","):
            continue
        if name == "F21" and not args.slow:
            continue
        file = str(here / (name + ".mk"))
        rounds = 1 if name == "F21" else args.rounds
        # Small workloads are over in less than a clock's noise.
        run = subprocess.run([args.retuple, "query", file, "--json", "--quiet", "--repeat", str(max(3, rounds))], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{name}: {run.stderr}")
        query = json.loads(run.stdout)[-1]
        ours = query["milliseconds"]
        line = f"{name:10} {query['count']:8} {ours:10.3f}"
        if peer:
            def scheme(*what):
                return subprocess.run(["scheme", "--script", str(here / "peer.scm"), name, *what, "--mk", str(mk)], check=True,
                                      capture_output=True, text=True).stdout
            theirs = float(scheme("time", str(rounds)).split()[-1])
            wrapped = scheme("wrapped")
            expected = subprocess.run([str(here / "to_ours.py")], input=wrapped, check=True, capture_output=True, text=True).stdout
            got = subprocess.run([args.retuple, "query", file], capture_output=True, text=True).stdout
            same = got == expected
            differ += not same
            ratios[name] = ours / theirs if theirs > 0 else float("nan")
            line += f" {theirs:10.3f} {ratios[name]:7.2f}  {'equal' if same else 'DIFFER'}"
        print(line, flush=True)
    if ratios:
        good = [r for r in ratios.values() if r == r and r > 0]
        print(f"geometric mean {math.exp(sum(map(math.log, good)) / len(good)):.2f} of {len(good)}, largest {max(good):.2f}")
    sys.exit(1 if differ else 0)


main()
