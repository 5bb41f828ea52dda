package importing

// DeclaredIDs is the option of an imported store that lists the node types for which the schema declares #id.
const DeclaredIDs = "declared_ids"
