"""Exclude the modules that build the site from doctest collection."""

collect_ignore = ["conf.py", "plots"]
