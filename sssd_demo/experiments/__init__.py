"""What SSSD's authors report, tried here: each experiment is a file and can be run again from the command line.

An experiment takes its texts, stores or service from its caller and returns `Figure`s; it reads no files and prints
nothing. `figure.py` says what a figure is, `redraft.py` drafts recorded answers with one source or both,
`held_out.py` keeps what is measured apart from the stores, `recycling.py` tells of a source that may be missing.
"""
