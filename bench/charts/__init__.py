"""The charts of docs/performance.md, drawn from the figures in bench/results/."""
