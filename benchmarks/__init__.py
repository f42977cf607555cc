"""Side-by-side timing: ratios measured in one run, never absolute claims."""
