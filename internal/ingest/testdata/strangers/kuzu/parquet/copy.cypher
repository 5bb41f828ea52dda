COPY `User` (`name`,`age`,`height`,`ok`,`born`,`seen`,`tags`,`emb`) FROM "User.parquet" (parallel=true);
COPY `City` (`id`,`name`,`population`) FROM "City.parquet" (parallel=true);
COPY `Nobody` (`k`) FROM "Nobody.parquet" (parallel=true);
COPY `Follows` (`since`) FROM "Follows_User_User.parquet" (to='User', from='User', parallel=true);
COPY `LivesIn` FROM "LivesIn_User_City.parquet" (to='City', from='User', parallel=true);
COPY `Nothing` (`w`) FROM "Nothing_Nobody_City.parquet" (to='City', from='Nobody', parallel=true);
COPY `Knows` (`w`) FROM "Knows_User_User.parquet" (to='User', from='User', parallel=true);
COPY `Knows` (`w`) FROM "Knows_User_City.parquet" (to='City', from='User', parallel=true);
