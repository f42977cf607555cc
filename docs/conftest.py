"""The pages are tested as text; the modules that build the site hold no examples."""

collect_ignore = ["conf.py", "plots"]
