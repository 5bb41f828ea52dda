COPY User From "dataset/demo-db/csv/user.csv"
COPY City FROM "dataset/demo-db/csv/city.csv"
COPY Follows FROM "dataset/demo-db/csv/follows.csv"
COPY LivesIn FROM "dataset/demo-db/csv/lives-in.csv"