CREATE NODE TABLE `User` (`name` STRING,`age` INT64,`height` DOUBLE,`ok` BOOL,`born` DATE,`seen` TIMESTAMP,`tags` STRING[],`emb` FLOAT[3], PRIMARY KEY(`name`));
CREATE NODE TABLE `City` (`id` INT64,`name` STRING,`population` INT32, PRIMARY KEY(`id`));
CREATE NODE TABLE `Nobody` (`k` INT64, PRIMARY KEY(`k`));
CREATE REL TABLE `Follows` (FROM `User` TO `User`, `since` INT64,MANY_MANY);
CREATE REL TABLE `LivesIn` (FROM `User` TO `City`, MANY_ONE);
CREATE REL TABLE `Nothing` (FROM `Nobody` TO `City`, `w` FLOAT,MANY_MANY);
CREATE REL TABLE `Knows` (FROM `User` TO `User`, FROM `User` TO `City`, `w` FLOAT,MANY_MANY);
