"""A running Neo4j or Memgraph on its way into a store, by the Python driver of Neo4j, which both speak with.

`server` opens the database and runs queries, `values` says which column the values of a property become, `rows` keeps rows on the disk until all types are known, `asked` is what
is read, with `marks` for what is new, `known` is what a store has of it, and `read` imports or appends the rest.
"""
