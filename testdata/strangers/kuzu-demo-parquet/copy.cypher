COPY User From "dataset/demo-db/parquet/user.parquet";
COPY City FROM "dataset/demo-db/parquet/city.parquet";
COPY Follows FROM "dataset/demo-db/parquet/follows.parquet";
COPY LivesIn FROM "dataset/demo-db/parquet/lives-in.parquet";