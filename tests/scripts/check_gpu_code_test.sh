#!/usr/bin/env bash
# scripts/check_gpu_code notices each fault that it looks for, in what a cuobjdump of this test prints.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

cat >"$work/cuobjdump" <<'END'
#!/usr/bin/env bash
echo "arch = sm_90a"
if [[ $1 == --dump-resource-usage ]]; then
  printf ' Function %s:\n  REG:%s STACK:%s SHARED:0\n' "$NAME" "$REGISTERS" "$STACK"
else
  printf '\tcode for sm_90a\n\t\tFunction : %s\n' "$NAME"
  for instruction in $INSTRUCTIONS; do printf '        /*0010*/                   @!P0 %s R1, R2 ;\n' "$instruction"; done
fi
END
chmod +x "$work/cuobjdump"

# expect REPORT NAME REGISTERS STACK INSTRUCTION... : what is said about a kernel.
expect() {
  local report=$1 output
  export NAME=$2 REGISTERS=$3 STACK=$4 INSTRUCTIONS="${*:5}"
  output=$(PATH="$work:$PATH" "$root/scripts/check_gpu_code" kernels.fatbin) || true
  [[ $output == *"$report"* ]] || { echo "$*: found: $output" && exit 1; }
}

expect '1 kernels, 0 faults' matmul_bf16_64x64_nt 255 0 HMMA.16816.F32.BF16 LDGSTS.E.BYPASS.128
expect '1 kernels, 0 faults' matmul_blocks_1_q4_0 96 0 IMMA.16832.S8.S8 LDG.E.NA.128.CONSTANT
expect '1 kernels, 0 faults' sigmoid_f32 64 0 LDG.E STG.E
expect '1 kernels, 0 faults' pack_blocks_q4_K 128 152 STL STG.E.128
expect 'matmul_bf16_64x64_nt for sm_90a: 8 bytes of stack: registers were spilled' \
  matmul_bf16_64x64_nt 255 8 HMMA.16816.F32.BF16 LDGSTS.E.BYPASS.128
expect 'registers were spilled' sigmoid_f32 64 0 STL.64
expect 'has no HMMA, expected HMMA' matmul_bf16_64x64_nt 255 0 FFMA LDGSTS.E.BYPASS.128
expect 'has HMMA, expected no tensor cores' matmul_f32_64x64_nt 64 0 HMMA.1688.F32.TF32 LDGSTS.E.128
expect 'has IDP, expected IMMA' matmul_int8_few 64 0 IMMA.16832.S8.S8 IDP.4A.S8.S8 LDG.E.128
expect 'reads and writes no 16 bytes at a time' rms_norm_bf16 64 0 LDG.E.64
expect '104 registers: a multiprocessor has 1 blocks of 288 threads, expected 2' \
  matmul_blocks_1_q4_0 104 0 IMMA.16832.S8.S8 LDG.E.NA.128.CONSTANT
expect '65 registers: a multiprocessor has 0 blocks of 1024 threads' sigmoid_f32 65 0 LDG.E
