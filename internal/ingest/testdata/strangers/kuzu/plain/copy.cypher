COPY `User` (`name`,`age`,`height`,`ok`,`born`,`seen`,`tags`,`emb`) FROM "User.csv" (delim=delim='|', parallel=true);
COPY `City` (`id`,`name`,`population`) FROM "City.csv" (delim=delim='|', parallel=true);
COPY `Nobody` (`k`) FROM "Nobody.csv" (delim=delim='|', parallel=true);
COPY `Follows` (`since`) FROM "Follows_User_User.csv" (to='User', from='User', delim=delim='|', parallel=true);
COPY `LivesIn` FROM "LivesIn_User_City.csv" (to='City', from='User', delim=delim='|', parallel=true);
COPY `Nothing` (`w`) FROM "Nothing_Nobody_City.csv" (to='City', from='Nobody', delim=delim='|', parallel=true);
COPY `Knows` (`w`) FROM "Knows_User_User.csv" (to='User', from='User', delim=delim='|', parallel=true);
COPY `Knows` (`w`) FROM "Knows_User_City.csv" (to='City', from='User', delim=delim='|', parallel=true);
