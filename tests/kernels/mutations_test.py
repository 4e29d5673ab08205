#!/usr/bin/env python3
"""Faults in kernels for GPUs are found by the cases of tests/kernels/op_cases on the simulated GPU.

    mutations_test.py OP_CASES_TEST SIMULATED_KERNELS COMPILER [FLAG...]

Each mutation changes a text in a copy of a kernel's source. The copy is compiled into a driver in which its
kernels replace those of SIMULATED_KERNELS, and the cases that concern it have to fail with one of the SEEDS,
each another order of the threads. Without the change they have to pass with all of them.
"""
import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODE = pathlib.Path("heed/kernels/gpu/code")
SEEDS = (0, 1, 2, 3)  # 0: the threads take turns


@dataclasses.dataclass
class Mutation:
    fault: str
    kernel: str  # what is compiled
    changed: str  # what is changed: the kernel or a header
    old: str  # occurs once
    new: str
    cases: str  # HEED_OP_CASES


MUTATIONS = [
    Mutation("a missing barrier: warps do not wait for the largest scores of the others",
             "attention/attention_few.cu", "attention/attention_few.cu",
             "exchanged.largest[warp][lane / 4 + 8 * r] = largest[r];\n    }\n    synchronize();\n",
             "exchanged.largest[warp][lane / 4 + 8 * r] = largest[r];\n    }\n",
             "attention: splits, bf16 on bf16"),
    Mutation("a missing barrier: sums of a block are replaced before all warps have read them",
             "reductions/norm.cu", "block_sum.h",
             "value = Operation::apply(value, shared[warp]);\n  synchronize();\n",
             "value = Operation::apply(value, shared[warp]);\n",
             "layer_norm of 1000"),
    Mutation("an early overwrite: a stage is filled before all threads have read it",
             "products/matmul_f32.cu", "products/matmul_f32.cu",
             "    ring.advance();\n    ring.fill();\n",
             "    ring.fill();\n    ring.advance();\n",
             "product of 8x16x340 f32"),
    Mutation("a copy to shared memory that is not waited for",
             "products/matmul_int8.cu", "products/block_ring.h",
             "wait_for_copies<tile.stages - 2>()", "wait_for_copies<tile.stages - 1>()",
             "matmul_int8 with f32 of 70"),
    Mutation("a wrong swizzle: chunks are exchanged by 4 rows where they are read by 8",
             "products/matmul_bf16.cu", "products/matmul_tile.h",
             "Tile::chunk(tile, row, chunk_), from);",
             "tile + row * Tile::kColumns + (chunk_ ^ (row & 3)) * Tile::kChunk, from);",
             "product of 70x66x136 bf16"),
    Mutation("a wrong mask of the last column: one more is in the sum",
             "reductions/norm.cu", "reductions/norm.cu",
             "if (column + i < columns) sum", "if (column + i <= columns) sum",
             "layer_norm of 77"),
    Mutation("an off-by-one of a window: a key too many is seen",
             "attention/attention_plain.cu", "attention/attention_rows.h",
             "position - in.window + 1", "position - in.window",
             "attention: everything, f32 on f32"),
    Mutation("warps that add up half of a row",
             "reductions/softmax_backward.cu", "block_sum.h",
             "unsigned mask = 16;", "unsigned mask = 8;",
             "softmax backward"),
    Mutation("a missing rounding: sums are not rounded after every row",
             "rows/rows.cu", "rows/rows.cu",
             "sums[e] = wide(narrow<T>(sums[e] + values[e]));", "sums[e] += values[e];",
             "add_rows of 1040"),
    Mutation("a wrong group of heads: all read the keys and values of the first",
             "attention/attention_tiles.cu", "attention/attention_tiles.cu",
             "row * in.n_kv_heads + rows.group.head_group", "row * in.n_kv_heads",
             "attention: ragged, bf16 on bf16"),
    Mutation("a shared value that nobody has set: how much of each list is taken",
             "reductions/top_k.cu", "reductions/top_k.cu",
             "for (int part = lane; part < in.parts; part += 32) taken[part] = 0;\n", "",
             "top_64 of 9003"),
    Mutation("an access behind the end: a row has an element too many",
             "reductions/softmax.cu", "reductions/row_parts.h",
             "load_vector(row + column, columns - column, absent, values_[slot]);",
             "load_vector(row + column, columns - column + 1, absent, values_[slot]);",
             "log_sum_exp of 301"),
]


class Kernels:
    """Kernels that are compiled for the simulated GPU."""

    def __init__(self, folder, test, simulated, compiler):
        self.folder, self.test, self.simulated, self.compiler = folder, test, simulated, compiler

    def driver_of(self, name, kernel, changed, text):
        """The driver with a kernel, for which `changed` is this text."""
        include = self.folder / name
        copy = include / CODE / changed
        copy.parent.mkdir(parents=True)
        copy.write_text(text)
        source = copy if changed == kernel else ROOT / "src" / CODE / kernel
        driver = include / "driver.so"
        # Hidden: the functions that kernels share are their own, not those of the simulated kernels.
        subprocess.run([*self.compiler, "-std=c++20", "-O1", "-fPIC", "-shared", "-ffp-contract=off",
                        "-fvisibility=hidden", "-fvisibility-inlines-hidden",
                        f"-I{include}", f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{ROOT}", "-x", "c++",
                        source, "-x", "none", self.simulated, "-o", driver], check=True)
        return driver

    def run(self, driver, cases, seed):
        environment = dict(os.environ, HEED_CUDA_DRIVER=str(driver), HEED_OP_CASES=cases,
                           HEED_SIMULATED_GPU=f"seed={seed},memory=1024")
        return subprocess.run([self.test, "--gtest_filter=*Gpu*"], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)


def judge(kernels, number):
    """What is wrong with a mutation, or None; and a line about it."""
    mutation = MUTATIONS[number]
    text = (ROOT / "src" / CODE / mutation.changed).read_text()
    if text.count(mutation.old) != 1:
        return f"{mutation.changed} has {text.count(mutation.old)} times, expected once: {mutation.old}", ""
    for seed in SEEDS:
        passed = kernels.run(kernels.simulated, mutation.cases, seed)
        if passed.returncode != 0:
            return f"'{mutation.cases}' fails without the mutation, seed {seed}:\n{passed.stdout}", ""
    driver = kernels.driver_of(str(number), mutation.kernel, mutation.changed,
                               text.replace(mutation.old, mutation.new))
    found = [seed for seed in SEEDS if kernels.run(driver, mutation.cases, seed).returncode != 0]
    if not found:
        return f"'{mutation.cases}' passes with seeds {SEEDS}", ""
    return None, f"found with seed {', '.join(map(str, found))}"


def main():
    test, simulated, *compiler = sys.argv[1:]
    broken = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        kernels = Kernels(pathlib.Path(folder), test, simulated, compiler)
        # A copy that is not changed: what fails below is not how copies are compiled.
        copied = "reductions/top_k.cu"
        driver = kernels.driver_of("copy", copied, copied, (ROOT / "src" / CODE / copied).read_text())
        unchanged = kernels.run(driver, "top_64", 1)
        if unchanged.returncode != 0:
            sys.exit(f"a copy of {copied} that is not changed fails:\n{unchanged.stdout}")
        for mutation, (why, line) in zip(MUTATIONS, pool.map(lambda i: judge(kernels, i), range(len(MUTATIONS)))):
            print(f"{mutation.fault} ({mutation.kernel}): {'NOT FOUND: ' + why if why else line}", flush=True)
            broken += why is not None
    sys.exit(broken != 0)


if __name__ == "__main__":
    main()
