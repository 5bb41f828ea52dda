COPY `User` (`name`,`age`,`height`,`ok`,`born`,`seen`,`tags`,`emb`) FROM "User.csv" (header=true, parallel=true);
COPY `City` (`id`,`name`,`population`) FROM "City.csv" (header=true, parallel=true);
COPY `Nobody` (`k`) FROM "Nobody.csv" (header=true, parallel=true);
COPY `Follows` (`since`) FROM "Follows_User_User.csv" (to='User', from='User', header=true, parallel=true);
COPY `LivesIn` FROM "LivesIn_User_City.csv" (to='City', from='User', header=true, parallel=true);
COPY `Nothing` (`w`) FROM "Nothing_Nobody_City.csv" (to='City', from='Nobody', header=true, parallel=true);
COPY `Knows` (`w`) FROM "Knows_User_User.csv" (to='User', from='User', header=true, parallel=true);
COPY `Knows` (`w`) FROM "Knows_User_City.csv" (to='City', from='User', header=true, parallel=true);
