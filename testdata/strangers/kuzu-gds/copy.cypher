COPY N FROM "dataset/gds-weighted-shortest-path/n.csv";
COPY R FROM "dataset/gds-weighted-shortest-path/e.csv"