#!/usr/bin/env python3
"""The C API is what src/capi/abi.txt records: declarations of include/heed/c.h, one a line, and the
functions that libheed.so exports.

    c_abi_test.py LIBRARY       compares
    c_abi_test.py --record      writes src/capi/abi.txt

Programs that were built before rely on every declaration. One that is changed or missing is an error
unless the number after libheed.so, which abi.txt records as well, has moved. A new one has to be
recorded.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORD = ROOT / "src/capi/abi.txt"


def so_version():
    text = (ROOT / "cmake/HeedLibrary.cmake").read_text()
    return re.search(r"heed_shared_library\(heed_shared heed (\d+)\)", text).group(1)


def own_text():
    """What c.h and the headers that it includes say, without comments and the system's headers."""
    header = ROOT / "include/heed/c.h"
    command = ["gcc", "-std=c99", "-E", "-I", ROOT / "include", "-x", "c", header]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own, lines = False, []
    for line in output.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            own = "/include/heed/" in marker.group(1)
        elif own:
            lines.append(line)
    return " ".join(lines)


def declarations():
    """Declarations with single spaces; inline functions belong to the caller and are left out."""
    found, text, depth = [], "", 0
    for character in own_text():
        text += character
        depth += (character == "{") - (character == "}")
        inline = text.lstrip().startswith("static")
        if depth == 0 and (character == ";" or inline and character == "}"):
            if not inline:
                found.append(re.sub(r"__attribute__ ?\(\(.*?\)\)+ ?", "", " ".join(text.split())))
            text = ""
    return found


def exported(library):
    output = subprocess.run(["nm", "--dynamic", "--defined-only", library], capture_output=True,
                            text=True, check=True).stdout
    return {line.split()[-1] for line in output.splitlines() if line.split()[-1].startswith("heed_")}


def main():
    now = [f"libheed.so.{so_version()}", *declarations()]
    if sys.argv[1] == "--record":
        RECORD.write_text("\n".join(now) + "\n")
        return
    recorded = RECORD.read_text().splitlines()
    problems = []
    if recorded[0] == now[0]:
        problems += [f"changed or missing: {line}" for line in recorded if line not in now]
    problems += [f"not recorded (c_abi_test.py --record): {line}" for line in now if line not in recorded]
    declared = {name for line in now[1:] if (match := re.match(r"heed_status (heed_\w+)\(", line))
                for name in match.groups()}
    symbols = exported(sys.argv[1])
    problems += [f"declared but not exported: {name}" for name in sorted(declared - symbols)]
    problems += [f"exported but not declared: {name}" for name in sorted(symbols - declared)]
    print("\n".join(problems) or "passed")
    sys.exit(1 if problems else 0)


main()
