"""Kernel objects are compiled with flags of their own: any inline function they share with other
objects could end up in the program with instructions that the machine lacks. So every symbol they
define must lie in the namespace of their target (or be the table)."""

import re
import subprocess
import sys

OWN = re.compile(r"tilewise::cpu::(N_[A-Z0-9]+::|k[A-Za-z0-9]+Kernels$)|tilewise::[a-z0-9]+_kernels::")

# The address sanitizer marks each exported variable by a byte named for it; the names never collide.
SANITIZER = re.compile(r"__odr_asan_gen_.*k[A-Za-z0-9]+KernelsE$")

# Data, not code: the address of the routine that exception tables name, the same for every target.
# Clang emits it where the thread sanitizer adds a cleanup to a function.
PERSONALITY = re.compile(r"DW\.ref\.__g(cc|xx)_personality_v0$")


def main(nm, *objects):
    wrong = []
    for path in objects:
        text = subprocess.run([nm, "-C", "--defined-only", path], check=True, capture_output=True,
                              text=True).stdout
        for line in text.splitlines():
            match = re.match(r"[0-9a-f]* +([A-Za-z]) (.*)", line)
            if not match or match[1] not in "WwVvuTDBRGS":
                continue
            if not (OWN.search(match[2]) or SANITIZER.match(match[2]) or PERSONALITY.match(match[2])):
                wrong.append(f"{path}: {match[2]}")
    print("\n".join(wrong) or f"{len(objects)} objects hold nothing that others could share")
    return 1 if wrong or not objects else 0


sys.exit(main(*sys.argv[1:]))
