"""How programs of PyTorch are timed here."""
import statistics
import time

import torch


def synchronize(device):
    if str(device).startswith("cuda"):
        torch.cuda.synchronize()


def seconds_of(run, device, series=9, budget=0.6):
    """Seconds of a run: the median of several series without a pause, as kernels_bench.cc does."""
    def time_of(runs):
        start = time.perf_counter()
        for _ in range(runs):
            run()
        synchronize(device)
        return (time.perf_counter() - start) / runs
    for _ in range(2):
        time_of(1)
    estimate = min(time_of(2), time_of(2))
    runs = max(2, min(1000, int(3e-3 / max(estimate, 1e-7))))
    times, start = [], time.perf_counter()
    while len(times) < series and (not times or time.perf_counter() - start < budget):
        times.append(time_of(runs))
    return statistics.median(times)
