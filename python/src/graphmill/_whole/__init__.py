"""Whole graphs of other libraries made into stores, and stores into these: a module for each library, with ``from_`` and ``to_``.

Libraries are imported by the functions that need them.
"""
