"""A running Neo4j or Memgraph on its way into a store, by the Python driver of Neo4j, which both speak with.

`server` opens the database and runs queries, `values` says which column the values of a property become, `rows` keeps rows on the disk until all types are known, and `read` imports
or appends them.
"""
