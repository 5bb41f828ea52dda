"""Files that a Python library reads, on their way into a store or a collection.

`kinds` says which function reads which file. Each function lets its library read, and maps the objects of the library to tables, which `read` imports. The libraries
are optional, and are imported by the functions that need them.
"""
