#!/usr/bin/env python3
"""The C API is what src/capi/abi.txt records: declarations and constants of include/heed/c.h, one a line,
and the functions that libheed.so exports; abi_text.txt is the same of c_text.h and libheed_text.so.

    c_abi_test.py LIBHEED LIBHEED_TEXT      compares
    c_abi_test.py --record                  writes the records
    c_abi_test.py --self-test               breaks a copy of the headers in each way, which is noticed

Programs that were built before rely on every declaration. One that is changed or missing is an error
unless the number after the library's name, which the record has as well, has moved. A new one has to be
recorded. Declarations say what abidiff reads from debug information, which libraries that are shipped
do not have, and the values of macros.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Api:
    """What programs rely on that include a header and link a library."""

    def __init__(self, library, target, header, record):
        cmake = (ROOT / "cmake/HeedLibrary.cmake").read_text()
        number = re.search(rf"heed_shared_library\({target} \w+ (\d+)\)", cmake).group(1)
        self.name = f"{library}.{number}"
        self.header = header
        self.record = ROOT / "src/capi" / record

    def now(self, include):
        return [self.name, *declarations(include, self.header)]


APIS = [Api("libheed.so", "heed_shared", "c.h", "abi.txt"),
        Api("libheed_text.so", "heed_text_shared", "c_text.h", "abi_text.txt")]


def own_lines(include, header):
    """Lines of a header and those of heed's that it includes, without comments, with their macros."""
    command = ["gcc", "-std=c99", "-E", "-dD", "-I", include, "-x", "c", include / "heed" / header]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own = False
    for line in output.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            own = marker.group(1).startswith(f"{include}/heed/")
        elif own:
            yield line


def declarations(include, header):
    """Declarations with single spaces; inline functions belong to the caller and are left out."""
    found, text, depth = [], "", 0
    for line in own_lines(include, header):
        if line.startswith("#define"):
            found += [line] if line.startswith("#define HEED_") and "HEED_EXPORT" not in line else []
            continue
        for character in line + " ":
            text += character
            depth += (character == "{") - (character == "}")
            inline = text.lstrip().startswith("static")
            if depth == 0 and (character == ";" or inline and character == "}"):
                if not inline:
                    visible = r'__attribute__ ?\(\(visibility ?\("default"\)\)\) ?'
                    found.append(re.sub(visible, "", " ".join(text.split())))
                text = ""
    return found


def functions(lines):
    return {match.group(1) for line in lines if (match := re.match(r"heed_status (heed_\w+)\(", line))}


def exported(library):
    output = subprocess.run(["nm", "--dynamic", "--defined-only", library], capture_output=True,
                            text=True, check=True).stdout
    return {line.split()[-1] for line in output.splitlines() if line.split()[-1].startswith("heed_")}


def problems(recorded, now, symbols):
    found = []
    if recorded[0] == now[0]:
        found += [f"changed or missing: {line}" for line in recorded if line not in now]
    found += [f"not recorded (c_abi_test.py --record): {line}" for line in now if line not in recorded]
    declared = functions(now)
    found += [f"declared but not exported: {name}" for name in sorted(declared - symbols)]
    found += [f"exported but not declared: {name}" for name in sorted(symbols - declared)]
    return found


# A header, a text in it, what becomes of it, and how the recorded declaration begins that it changes.
BREAKS = [
    ("c_text.h", "size_t begin; /* of the first byte or code point */\n  size_t end;",
     "size_t end; /* of the first byte or code point */\n  size_t begin;",
     "typedef struct heed_token_offsets"),
    ("c_model.h", "int64_t rope_context;", "int32_t rope_context;", "typedef struct heed_load_options"),
    ("c_generate.h", "float bias;", "double bias;", "typedef struct heed_token_bias"),
    ("c_generate.h", "} heed_prompt;", "} __attribute__((packed)) heed_prompt;",
     "typedef struct heed_prompt"),
    ("c_generate.h", "typedef struct heed_prompt", "#pragma pack(1)\ntypedef struct heed_prompt",
     "typedef struct heed_prompt"),
    ("c_base.h", "HEED_ERROR_BUSY = 7", "HEED_ERROR_BUSY = 8", "enum { HEED_OK"),
    ("c_base.h", "#define HEED_DEFAULT (-1)", "#define HEED_DEFAULT (-2)", "#define HEED_DEFAULT"),
    ("c_base.h", "MESSAGE_SIZE 1024", "MESSAGE_SIZE 512", "typedef struct heed_error {"),
    ("c_base.h", "_create(int32_t threads", "_create(int64_t threads", "heed_status heed_executor_create("),
    ("c_generate.h", "typedef int (*heed_on_text)", "typedef void (*heed_on_text)",
     "typedef int (*heed_on_text)"),
    ("c_session.h", "heed_status heed_session_close", "heed_status heed_session_end",
     "heed_status heed_session_close"),
]


def reports(include, header, old, new):
    """What is reported of heed's headers with this change, and of its library without."""
    shutil.copytree(ROOT / "include", include)
    text = (include / "heed" / header).read_text()
    assert old in text, f"{header} has no {old}"
    (include / "heed" / header).write_text(text.replace(old, new, 1))
    recorded = APIS[0].record.read_text().splitlines()
    found = problems(recorded, APIS[0].now(include), functions(recorded))
    shutil.rmtree(include)
    return found


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder).resolve() / "include"
        if found := reports(include, "c.h", "", ""):
            failures.append(f"the headers are not those of the record: {found}")
        for header, old, new, declaration in BREAKS:
            found = reports(include, header, old, new)
            if not any(line.startswith(f"changed or missing: {declaration}") for line in found):
                failures.append(f"{header} with {new!r}: found {found}")
        new_number = ["libheed.so.1", *APIS[0].record.read_text().splitlines()[2:]]
    # found is still that of the function with another name.
    for report in ("not recorded (c_abi_test.py --record): heed_status heed_session_end(",
                   "declared but not exported: heed_session_end",
                   "exported but not declared: heed_session_close"):
        if not any(line.startswith(report) for line in found):
            failures.append(f"not reported: {report}")
    moved = problems(APIS[0].record.read_text().splitlines(), new_number, functions(new_number))
    if any(line.startswith("changed") for line in moved):
        failures.append("a declaration that is missing is an error though the number has moved")
    return failures


def main():
    if sys.argv[1] == "--record":
        for api in APIS:
            api.record.write_text("\n".join(api.now(ROOT / "include")) + "\n")
        return
    if sys.argv[1] == "--self-test":
        found = self_test()
    else:
        found = [f"{api.name}: {problem}" for api, library in zip(APIS, sys.argv[1:], strict=True)
                 for problem in problems(api.record.read_text().splitlines(),
                                         api.now(ROOT / "include"), exported(library))]
    print("\n".join(found) or "passed")
    sys.exit(1 if found else 0)


main()
