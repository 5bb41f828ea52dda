COPY `P` (`id`,`u`,`us`,`n`) FROM "P.parquet" (parallel=true);
COPY `K` (`u`,`w`) FROM "K_P_P.parquet" (to='P', from='P', parallel=true);
