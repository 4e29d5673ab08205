"""The kinds of machine, and how every program of a comparison is restricted to one of them."""
import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    name: str           # the value of HEED_CPU
    title: str
    flags: frozenset    # what /proc/cpuinfo calls the instructions that such a machine has
    variables: dict = field(default_factory=dict)  # what restricts the others
    llama_cpp: tuple = ()  # options of its build beside those of AVX2

    def pytorch_multiplies_bf16(self):
        """With oneDNN, at the speed of f32 or better; with AVX2, at a hundredth of that."""
        return "avx512f" in self.flags


def variables(aten, onednn, mkl, fbgemm, march):
    return {
        "ATEN_CPU_CAPABILITY": aten,            # PyTorch's own kernels
        "ONEDNN_MAX_CPU_ISA": onednn,           # PyTorch, and CTranslate2 where it uses oneDNN
        "MKL_ENABLE_INSTRUCTIONS": mkl,         # the same two; MKL ignores it on AMD's processors
        "FBGEMM_ENABLE_INSTRUCTIONS": fbgemm,   # PyTorch's int8
        "TORCHINDUCTOR_CPP_MARCH": march,       # what PyTorch compiles
        "CT2_FORCE_CPU_ISA": aten.upper(),      # CTranslate2's own kernels
    }


AVX2 = frozenset(("avx2", "fma", "f16c"))
AVX512 = AVX2 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}
AVX512_BF16 = AVX512 | {"avx512_vnni", "avx512_bf16"}

# Ascending, except that avx512 has no VNNI.
KINDS = {kind.name: kind for kind in (
    Kind("avx2", "plain AVX2", AVX2,
         variables("avx2", "AVX2", "AVX2", "AVX2", "x86-64-v3")),
    Kind("avx2_vnni", "AVX2 with AVX-VNNI", AVX2 | {"avx_vnni"},
         variables("avx2", "AVX2_VNNI", "AVX2_E1", "AVX2", "x86-64-v3"),
         ("-DGGML_AVX_VNNI=ON",)),
    Kind("avx512", "AVX-512 without VNNI and BF16", AVX512,
         variables("avx512", "AVX512_CORE", "AVX512", "AVX512", "x86-64-v4"),
         ("-DGGML_AVX512=ON",)),
    Kind("avx512_bf16", "AVX-512 with VNNI and BF16", AVX512_BF16,
         variables("avx512", "AVX512_CORE_BF16", "AVX512_E3", "AVX512_E1", "cooperlake"),
         ("-DGGML_AVX512=ON", "-DGGML_AVX512_VBMI=ON", "-DGGML_AVX512_VNNI=ON",
          "-DGGML_AVX512_BF16=ON")),
    Kind("amx", "AMX", AVX512_BF16 | {"amx_tile", "amx_int8", "amx_bf16"}),
)}

UNRESTRICTED = "unrestricted"  # after the name of a program that cannot be restricted


class Refused(Exception):
    """A kind that cannot be had here; says why in one line."""


def machine_flags():
    with open("/proc/cpuinfo") as file:
        line = next((line for line in file if line.startswith("flags")), "")
    return frozenset(line.partition(":")[2].split())


def better(kind, flags):
    """The instructions of a machine with these flags that a machine of this kind lacks."""
    names = list(KINDS)
    later = [KINDS[name].flags for name in names[names.index(kind.name) + 1:]]
    return (frozenset().union(*later) - kind.flags) & flags


def described(kind):
    return f"{kind.name} ({kind.title})"


def own_kind(flags):
    """The best kind whose instructions the machine has; None: it lacks AVX2."""
    return next((kind for kind in reversed(KINDS.values()) if kind.flags <= flags), None)


def restrict(name):
    """Restricts all programs that are started from now on to the kind of that name; None: to
    nothing. Returns the Kind if it is less than the machine, and what to tell the reader."""
    flags = machine_flags()
    own = own_kind(flags)
    machine = described(own) if own else "less than AVX2"
    kind = KINDS.get(name, own)
    missing = sorted(kind.flags - flags) if kind else ()
    if missing:
        raise Refused(f"this machine's kind is {machine}; {name} also needs {', '.join(missing)}")
    rest = sorted(better(kind, flags)) if kind else ()
    if name is None or not rest:
        if "HEED_CPU" in os.environ:
            raise Refused("HEED_CPU is set, which restricts heed alone: unset it, or use --cpu")
        more = f", with {', '.join(rest)} besides" if rest else ""
        return None, f"Kind of machine: {machine}{more}; real, nothing is restricted."
    settings = {"HEED_CPU": name, **kind.variables}
    os.environ.update(settings)
    listed = " ".join(f"{key}={value}" for key, value in settings.items())
    return kind, (
        f"Kind of machine: {described(kind)}; forced, the machine's own is {machine}. Set for all "
        f"programs: {listed}. llama.cpp is built for this kind. onnxruntime and OpenVINO "
        f"cannot be restricted: their rows say \"{UNRESTRICTED}\".")
