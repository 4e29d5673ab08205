"""What the GPU does at most: a copy on it, and matrix products of NVIDIA's library. Lines
`ceiling NAME VALUE` of bytes and operations per second.

    ceilings.py [--device cuda|cpu] [--tiny]
"""
import argparse

import torch

from timing import seconds_of


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    device = options.device
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        print(f"torch {torch.__version__}, {properties.name}, "
              f"{properties.multi_processor_count} multiprocessors", flush=True)

    size = 1 << (20 if options.tiny else 32)
    source = torch.empty(size, dtype=torch.uint8, device=device).random_()
    target = torch.empty_like(source)
    print(f"ceiling bandwidth {2 * size / seconds_of(lambda: target.copy_(source), device):.4g}",
          flush=True)
    del source, target

    n = 64 if options.tiny else 8192
    for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32)):
        a = torch.randn(n, n, device=device, dtype=dtype)
        b = torch.randn(n, n, device=device, dtype=dtype)
        seconds = seconds_of(lambda: torch.mm(a, b), device)
        print(f"ceiling {name} {2 * n ** 3 / seconds:.4g}", flush=True)

    host = torch.empty(1 << (20 if options.tiny else 30), dtype=torch.uint8)
    if device == "cuda":
        for name, memory in (("pageable", host), ("pinned", host.pin_memory())):
            there = memory.to(device)
            print(f"ceiling host-to-device-{name} "
                  f"{memory.numel() / seconds_of(lambda: there.copy_(memory), device, 3):.4g}")
            print(f"ceiling device-to-host-{name} "
                  f"{memory.numel() / seconds_of(lambda: memory.copy_(there), device, 3):.4g}",
                  flush=True)


main()
