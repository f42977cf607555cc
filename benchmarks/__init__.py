"""Benchmarks: accuracies, and ratios of times measured side by side in one run."""
