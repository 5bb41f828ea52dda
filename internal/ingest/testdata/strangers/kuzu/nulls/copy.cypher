COPY `P` (`id`,`emb`,`tags`,`nm`,`u`) FROM "P.parquet" (parallel=true);
COPY `K` FROM "K_P_P.parquet" (to='P', from='P', parallel=true);
