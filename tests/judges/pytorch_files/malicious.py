#!/usr/bin/env python3
"""Files of torch.save that run code when Python reads them: heed must refuse each and name what it asks for.

    malicious.py READ_PYTORCH_FILE          needs torch, fickling, picklescan and modelscan

- Pickles made by hand: each way in which a pickle can reach a function (REDUCE, INST, OBJ, NEWOBJ, NEWOBJ_EX, STACK_GLOBAL,
  BUILD, the extension registry, chains of getattr, calls within arguments), alone and inside a state dict, in zip archives
  and in the format before them. Python runs their payload, which makes a file; the script sees that it does.
- Archives into which fickling injects code, in each of its ways.
- One call of each global that picklescan or modelscan calls dangerous.
- Archives and pickles that are damaged or describe far more than they hold. The memory of the process may grow by twice the
  size of the file and 24 MB.

Exits with 1 if one is read, if the message does not name what was refused or has several lines, or if a payload ran.
"""
import io
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile

import torch

warnings.filterwarnings("ignore")
SLACK = 24 << 20


def text(value):
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def by_hand(canary):
    """(what it is, the value's instructions, what must be named, whether Python runs it)"""
    command = text(f"touch {canary}")
    code = text(f"open({canary!r}, 'w')")
    system = name("os", "system")
    getattr_ = name("builtins", "getattr")
    return [
        ("os.system", system + b"(" + command + b"tR", "os.system", True),
        ("posix.system", name("posix", "system") + command + b"\x85R", "posix.system", True),
        ("builtins.eval", name("builtins", "eval") + code + b"\x85R", "builtins.eval", True),
        ("builtins.exec", name("builtins", "exec") + code + b"\x85R", "builtins.exec", True),
        ("subprocess.call", name("subprocess", "getoutput") + command + b"\x85R", "subprocess.getoutput", True),
        ("STACK_GLOBAL", text("os") + text("system") + b"\x93" + command + b"\x85R", "os.system", True),
        ("INST", b"(" + command + b"ios\nsystem\n", "os.system", True),
        ("OBJ", b"(" + system + command + b"o", "os.system", True),
        ("NEWOBJ", name("torch._dynamo.external_utils", "FakeBackwardCFunction") + b")\x81", "torch._dynamo", False),
        ("NEWOBJ_EX", name("pathlib", "PosixPath") + command + b"\x85}\x92", "pathlib.PosixPath", False),
        ("NEWOBJ_EX of a known class", name("collections", "OrderedDict") + b")}\x92", "NEWOBJ_EX", False),
        ("NEWOBJ of a known class", name("collections", "OrderedDict") + b")\x81", "NEWOBJ", False),
        ("EXT1", b"\x82\x01", "extension 1", False),
        ("EXT2", b"\x83\x01\x01", "extension 257", False),
        ("EXT4", b"\x84\x01\x00\x00\x01", "extension 16777217", False),
        ("nested reduce", system + name("builtins", "str") + command + b"\x85R\x85R", "os.system", True),
        ("nested in an argument", name("collections", "OrderedDict") + b"](" + system + command + b"\x85R"
         + b"K\x01\x86e\x85R", "os.system", True),
        ("getattr chain", getattr_ + name("builtins", "__import__") + text("os") + b"\x85R" + text("system") + b"\x86R"
         + command + b"\x85R", "builtins.getattr", True),
        ("getattr of a known class", getattr_ + name("collections", "OrderedDict") + text("__class__") + b"\x86R",
         "builtins.getattr", False),
        ("operator.attrgetter", name("operator", "attrgetter") + text("system") + b"\x85R" + name("os", "path"),
         "operator.attrgetter", False),
        ("dotted name", text("torch.serialization") + text("os.system") + b"\x93" + command + b"\x85R", "torch.serialization.os.system",
         True),
        ("dotted name of a known module", text("collections") + text("abc.sys.modules") + b"\x93",
         "collections.abc.sys.modules", False),
        ("BUILD with a setter", name("types", "SimpleNamespace") + b")R}" + text("a") + command + b"sb",
         "types.SimpleNamespace", False),
        ("BUILD of a tuple", b"]" + b"}}\x86b", "a list", False),
        ("functools.partial", name("functools", "partial") + system + command + b"\x86R)R", "functools.partial", True),
        ("marshal", name("marshal", "loads") + b"C\x01N\x85R", "marshal.loads", False),
        ("torch.load", name("torch.serialization", "load") + text("x") + b"\x85", "torch.serialization.load", False),
        ("torch.hub", name("torch.hub", "load") + text("x") + b"\x85", "torch.hub.load", False),
        ("memo", system + b"q\x000h\x00" + command + b"\x85R", "os.system", True),
        ("hidden by POP", system + command + b"\x85R0N", "os.system", True),
        ("calls of a storage class", name("torch", "FloatStorage") + b"K\x09\x85R", "torch.FloatStorage", False),
        ("getattr by codecs", name("_codecs", "decode") + command + b"\x85R", "_codecs.decode", False),
        ("another codec", name("_codecs", "encode") + text("x") + text("rot13") + b"\x86R", "_codecs.encode", False),
        ("bytearray", b"\x96" + struct.pack("<Q", 1) + b"x", "BYTEARRAY8", False),
        ("buffer", b"\x97", "NEXT_BUFFER", False),
        ("set", b"\x8f(K\x01\x90", "EMPTY_SET", False),
        ("persistent id of a module", b"(" + text("module") + system + text("f") + text("source") + b"tQ", "os.system", False),
    ]


def places(value):
    """The value alone, and where a state dict may have it."""
    yield "alone", value
    yield "a weight", b"}" + text("w") + value + b"s"
    yield "a key", b"}" + value + b"K\x01s"
    yield "the state of a dict", name("collections", "OrderedDict") + b")R" + value + b"b"
    yield "beside the state dict", b"}(" + text("state_dict") + b"}" + text("hyper_parameters") + value + b"u"


def archives(value):
    program = b"\x80\x04" + value + b"."
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("m/data.pkl", program)
        archive.writestr("m/version", "3\n")
    yield "zip", buffer.getvalue()
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {
        "protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}))
    yield "legacy", head + program + pickle.dumps([], 2)
    # A payload where the machine is described.
    yield "legacy, machine", head[:head.index(b"\x80\x02M\xe9\x03.") + 6] + program + pickle.dumps({}, 2)


def injected(folder):
    from fickling.fickle import Pickled
    from fickling.pytorch import PyTorchModelWrapper
    good, out = folder / "good.pt", folder / "injected.pt"
    torch.save({"w": torch.zeros(2, 2)}, good)
    for how in ("insertion", "combination"):
        out.unlink(missing_ok=True)
        PyTorchModelWrapper(good).inject_payload("import os", out, injection=how)
        yield f"fickling, {how}", out.read_bytes(), "builtins.exec" if how == "insertion" else "builtin__.eval"
    archive = zipfile.ZipFile(good)
    pickled = archive.read("good/data.pkl")
    for first in (True, False):
        for method, wanted, arguments in (("insert_python_exec", "exec", ["import os"]), ("insert_python_eval", "eval", ["1"]),
                                          ("insert_python", "os.system", ["true"])):
            program = Pickled.load(pickled)
            options = {"module": "os", "attr": "system"} if method == "insert_python" else {}
            getattr(program, method)(*arguments, run_first=first, **options)
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as target:
                target.writestr("m/data.pkl", program.dumps())
                target.writestr("m/data/0", archive.read("good/data/0"))
            yield f"fickling, {method}, run_first={first}", buffer.getvalue(), wanted
    program = Pickled.load(pickled)
    program.insert_function_call_on_unpickled_object("def f(x): return x", constant_args=[])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        target.writestr("m/data.pkl", program.dumps())
    yield "fickling, function call on the object", buffer.getvalue(), "builtins"


def dangerous():
    """(whose list, module, attribute)"""
    from modelscan.settings import DEFAULT_SETTINGS
    from picklescan import scanner
    lists = {"picklescan": [scanner._unsafe_globals], "modelscan": DEFAULT_SETTINGS["unsafe_globals"].values()}
    for source, levels in lists.items():
        for level in levels:
            for module, attributes in level.items():
                for attribute in ["run"] if attributes == "*" else sorted(attributes):
                    yield source, module, attribute


def good_zip(value=b"}" + text("w") + b"Ns", **records):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("m/data.pkl", b"\x80\x02" + value + b".")
        for record, data in records.items():
            archive.writestr(f"m/{record}", data)
    return buffer.getvalue()


def damaged(folder):
    """(what it is, the file, a part of the message)"""
    path = folder / "whole.pt"
    torch.save({"w": torch.zeros(300, 100)}, path)
    whole = path.read_bytes()
    for size in (0, 1, 4, 22, 100, len(whole) // 2, len(whole) - 1):
        yield f"truncated to {size} bytes", whole[:size], ""
    yield "bytes at the end", whole + b"x", "something follows it"
    torch.save({"w": torch.zeros(300, 100)}, path, _use_new_zipfile_serialization=False)
    old = path.read_bytes()
    for size in (14, 100, len(old) // 2, len(old) - 1):
        yield f"legacy, truncated to {size} bytes", old[:size], ""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", b"\x80\x02" + b"N" * 10 + b".")
        archive.writestr("m/data/0", bytes(200 << 20))
    yield "a bomb of 200 MB in deflate", buffer.getvalue(), "m/data.pkl is compressed (deflate)"
    # Entries that share their data: David Fifield's bomb without compression.
    data = good_zip(**{"data/0": bytes(1 << 20)})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = archive.getinfo("m/data/0")
    start = data.rindex(b"PK\x01\x02")
    end = data.rindex(b"PK\x05\x06")
    entry = data[start:end]
    bomb = data[:end] + entry * 1000 + data[end:end + 8] + struct.pack("<HHI", 1002, 1002, end - data.index(b"PK\x01\x02")
                                                                       + 1000 * len(entry)) + data[end + 16:]
    yield "1,001 entries for the same bytes", bomb, "overlaps another part"
    for field, size in (("bytes", 8), ("compressed bytes", 8), ("place", 8)):
        extra = struct.pack("<HH", 1, 24) + b"".join(
            struct.pack("<Q", 1 << 60 if field == which else known) for which, known in
            (("bytes", 1 << 20), ("compressed bytes", 1 << 20), ("place", info.header_offset)))
        changed = bytearray(entry[:46] + b"m/data/0" + extra)
        changed[20:28] = b"\xff" * 8
        changed[30:32] = struct.pack("<H", len(extra))
        changed[42:46] = b"\xff" * 4
        directory = data[data.index(b"PK\x01\x02"):start] + bytes(changed)
        yield f"2^60 {field} in zip64", data[:data.index(b"PK\x01\x02")] + directory + data[end:end + 12] + struct.pack(
            "<I", len(directory)) + data[end + 16:], "m/data/0"
    tensor = name("torch._utils", "_rebuild_tensor_v2")
    storage = b"(" + text("storage") + name("torch", "FloatStorage") + text("0") + text("cpu")

    def of(elements, sizes, strides, count=1):
        value = storage + b"\x8a\x08" + struct.pack("<q", elements) + b"tQq\x07"
        items = b"".join(text(f"w{i}") + tensor + b"(" + (b"h\x07" if i else value) + b"K\x00("
                         + b"".join(b"\x8a\x08" + struct.pack("<q", n) for n in sizes) + b"t("
                         + b"".join(b"\x8a\x08" + struct.pack("<q", n) for n in strides) + b"t\x89N" + b"tR"
                         for i in range(count))
        return good_zip(b"}(" + items + b"u", **{"data/0": bytes(4 << 10)})

    yield "a tensor of 2^59 elements", of(1024, [1 << 59], [1]), "w0 reaches beyond"
    yield "a storage of 2^60 elements", of(1 << 60, [4], [1]), "should have 1152921504606846976 elements"
    yield "2^59 times one element", of(1024, [1 << 59], [0]), "more memory than"
    yield "100 MB of one element", of(1024, [5000, 5000], [0, 0]), "more memory than"
    yield "1,000 times 100 kB of one element", of(1024, [25000], [0], 1000), "more memory than"
    yield "another byte order", good_zip(byteorder="big"), 'is "big", expected "little"'
    for what, value, wanted in (
            ("100,000 nested tuples", b")" + b"\x85" * 100000, "holds a tuple"),
            ("100,000 nested lists", b"]" * 100000 + b"a" * 99999, "holds a list"),
            ("100,000 nested dicts", b"}K\x01" * 100000 + b"N" + b"s" * 100000, "no tensors"),
            ("8 million marks", b"(" * (8 << 20), "more memory than"),
            ("8 million values", b"N" * (8 << 20), "more memory than"),
            ("8 million dicts", b"}0" * (4 << 20) + b"N", "more memory than"),
            ("a memo of 8 million", b"N" + b"\x94" * (8 << 20), "more memory than"),
            ("a list that doubles", b"](" + b"K\x01" * 1000 + b"e" + (b"q\x00(" + b"h\x00" * 100 + b"e") * 1000, "holds a list"),
            ("dicts of a shared list", b"](" + b"NN\x86" * 100000 + b"eq\x000" + name("collections", "OrderedDict") + b"q\x010"
             + b"h\x01h\x00\x85R0" * 1000 + b"N", "more memory than"),
            ("a memo number of 2^32", b"Nr\xff\xff\xff\xff", "holds None"),
            ("a text of 2^60 bytes", b"\x8d" + struct.pack("<Q", 1 << 60), "should follow"),
            ("a long of 2^31 bytes", b"\x8b" + struct.pack("<I", 1 << 31), "should follow")):
        yield what, good_zip(value), wanted


def memory_of(done):
    """The most bytes that a run of the program had: "VmHWM:  1234 kB"."""
    return int(done.stdout.split()[1]) << 10 if done.stdout else 0


def main():
    program = sys.argv[1]
    checked = ran = bad = 0
    most = 0

    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        canary, path = folder / "canary", folder / "bad.bin"

        def refused(what, data, wanted):
            nonlocal checked, bad, most
            checked += 1
            path.write_bytes(data)
            done = subprocess.run([program, path], capture_output=True, text=True)
            status, error = done.returncode, done.stderr
            grown = memory_of(done) - baseline - 2 * len(data)
            most = max(most, grown)
            why = ("was read" if status == 0 else f"ended with {status}" if status != 1
                   else "was run" if canary.exists() else f"took {grown >> 20} MB more than twice its size" if grown > SLACK
                   else f"{error.strip()}" if wanted not in error or error.count("\n") != 1 else None)
            if why:
                bad += 1
                print(f"FAIL {what}: {why}")
            canary.unlink(missing_ok=True)

        torch.save({"w": torch.zeros(2, 2)}, path)
        baseline = memory_of(subprocess.run([program, path], capture_output=True, text=True, check=True))
        for what, value, wanted, runs in by_hand(str(canary)):
            if runs:
                try:
                    pickle.loads(b"\x80\x04" + value + b".")
                except Exception:
                    pass
                if canary.exists():
                    ran += 1
                else:
                    print(f"FAIL {what}: Python itself does not run it")
                    bad += 1
                canary.unlink(missing_ok=True)
            for place, whole in places(value):
                for form, data in archives(whole):
                    refused(f"{what}, {place}, {form}", data, wanted)
        for what, data, wanted in injected(folder):
            refused(what, data, wanted)
        for source, module, attribute in dangerous():
            value = name(module, attribute) + text("x") + b"\x85R"
            refused(f"{source}'s {module}.{attribute}", next(archives(value))[1], f"{module}.{attribute}")
        for what, data, wanted in damaged(folder):
            refused(what, data, wanted)
    print(f"{checked} files, {bad} not refused as they should be; Python runs {ran} of the payloads made by hand; memory grew "
          f"by at most {max(0, most) >> 20} MB beyond twice the size of a file")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
