CREATE NODE TABLE `P` (`id` UUID,`u` UUID,`us` UUID[],`n` STRING, PRIMARY KEY(`id`)) WITH (storage = 'uuid-ladybug', format = 'icebug-disk');
CREATE REL TABLE `K` (FROM `P` TO `P`, `u` UUID,`w` INT64,MANY_MANY) WITH (storage = 'uuid-ladybug', format = 'icebug-disk');
