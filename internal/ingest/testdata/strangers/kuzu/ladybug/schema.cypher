CREATE NODE TABLE `User` (`name` STRING,`age` INT64,`height` DOUBLE,`ok` BOOL,`born` DATE,`seen` TIMESTAMP,`tags` STRING[],`emb` FLOAT[3], PRIMARY KEY(`name`)) WITH (storage = 'ladybug', format = 'icebug-disk');
CREATE NODE TABLE `City` (`id` INT64,`name` STRING DEFAULT 'x',`population` INT32, PRIMARY KEY(`id`)) WITH (storage = 'ladybug', format = 'icebug-disk');
CREATE NODE TABLE `Nobody` (`k` INT64, PRIMARY KEY(`k`)) WITH (storage = 'ladybug', format = 'icebug-disk');
CREATE REL TABLE `Follows` (FROM `User` TO `User`, `since` INT64,MANY_MANY) WITH (storage = 'ladybug', format = 'icebug-disk');
CREATE REL TABLE `LivesIn` (FROM `User` TO `City`, MANY_ONE) WITH (storage = 'ladybug', format = 'icebug-disk');
CREATE REL TABLE `Nothing` (FROM `Nobody` TO `City`, `w` FLOAT,MANY_MANY) WITH (storage = 'ladybug', format = 'icebug-disk');
