"""Writes the tables of this folder, and the rows that Spark reads.

Usage: make.py FOLDER JARS, where JARS are delta-spark_2.13-4.0.0.jar, delta-storage-4.0.0.jar and antlr4-runtime-4.13.1.jar,
with commas between them, and the Python has pyspark 4.0.1.
"""

import json
import os
import shutil
import sys

from pyspark.sql import SparkSession

OUT, JARS = sys.argv[1:]
TIMES = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSX", "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS"}
SETTINGS = {
    "spark.jars": JARS,
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
}

# The statements that make each table, where TABLE is its name, and the older versions whose rows are kept too.
TABLES = {
    "vectors": (
        [
            "create table TABLE (src bigint, dst bigint, w double, name string, at timestamp) using delta tblproperties('delta.enableDeletionVectors'='true')",
            "insert into TABLE select id, (id*7)%50, case when id%5=0 then null else id/4 end, concat('n', id%3),"
            " timestamp_micros(1700000000000000+id) from range(0,100,1,1)",
            "delete from TABLE where src % 3 = 0",
            "update TABLE set w = -1 where src = 50 or dst = 7",
            "insert into TABLE values (1000, 1, 2.5, null, null)",
            "delete from TABLE where src between 40 and 60",
        ],
        [1, 2],
    ),
    "mapped": (
        [
            "create table TABLE (src int, dst int, `a b,c` string, gone int, `part day` date) using delta"
            " partitioned by (`part day`) tblproperties('delta.columnMapping.mode'='name')",
            "insert into TABLE values (1,2,'x',1,date'2024-02-29'),(2,3,null,2,null)",
            "alter table TABLE rename column src to source",
            "alter table TABLE drop column gone",
            "alter table TABLE add column (weight float, tags array<string>, pair struct<a:int,b:int>)",
            "insert into TABLE values (5,6,'é,=%',date'1969-12-31',0.5,array('p','q'),named_struct('a',1,'b',2)),(7,8,'y',date'1969-12-31',null,array(),null)",
            "alter table TABLE rename column `part day` to day",
        ],
        [],
    ),
    "ids": (
        [
            "set spark.databricks.delta.checkpointV2.topLevelFileFormat=json",
            "create table TABLE (src bigint, dst bigint) using delta tblproperties('delta.columnMapping.mode'='id',"
            "'delta.checkpointPolicy'='v2','delta.checkpointInterval'='2','delta.enableDeletionVectors'='true')",
            *(f"insert into TABLE select id+{i}*10, id from range(0,4,1,1)" for i in range(3)),
            "delete from TABLE where dst = 2 and src > 5",
            "alter table TABLE rename column dst to target",
            "insert into TABLE values (99, 98)",
        ],
        [],
    ),
    "parts": (
        [
            "set spark.databricks.delta.checkpoint.partSize=2",
            "create table TABLE (src bigint, dst bigint, b boolean, i byte, d decimal(5,2), e decimal(12,0), t timestamp,"
            " n timestamp_ntz, s string, f double) using delta partitioned by (b, i, d, e, t, n, s)"
            " tblproperties('delta.checkpointInterval'='3')",
            "insert into TABLE values (1,2,true,-3,1.25,123456789012,timestamp'2024-02-29 13:45:07.25',timestamp_ntz'2024-02-29 13:45:07','a/b',1.5)",
            "insert into TABLE values (3,4,false,7,-0.5,-1,timestamp'1969-12-31 23:59:59.999999',timestamp_ntz'0001-01-01 00:00:00','',2)",
            "insert into TABLE values (5,6,null,null,null,null,null,null,null,null)",
            "insert into TABLE values (7,8,true,1,1,1,timestamp'2024-01-01',timestamp_ntz'2024-01-01','x y',0.1)",
        ],
        [],
    ),
    "wide": (
        [
            "create table TABLE (src short, dst int, w float, d date, p decimal(5,2)) using delta tblproperties('delta.enableTypeWidening'='true')",
            "insert into TABLE values (1,2,0.5,date'2024-02-29',1.25)",
            "alter table TABLE alter column src type bigint",
            "alter table TABLE alter column dst type bigint",
            "alter table TABLE alter column w type double",
            "alter table TABLE alter column p type decimal(10,4)",
            "insert into TABLE values (5000000000,6000000000,0.1,date'1969-12-31',123456.1234)",
        ],
        [],
    ),
    "empty": (["create table TABLE (src bigint, dst bigint, tags array<int>) using delta"], []),
    "emptied": (
        [
            "create table TABLE (src bigint, dst bigint) using delta tblproperties('delta.enableDeletionVectors'='true')",
            "insert into TABLE select id, id from range(0,5,1,1)",
            "delete from TABLE where dst < 4",
            "delete from TABLE",
        ],
        [],
    ),
}


def main() -> None:
    """Makes all tables anew."""
    builder = SparkSession.builder.master("local[1]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    options = ", ".join(f'"{k}", "{v}"' for k, v in {"ignoreNullFields": "false", **TIMES}.items())
    for name, (statements, versions) in TABLES.items():
        table = os.path.join(OUT, name)
        shutil.rmtree(table, ignore_errors=True)
        for s in statements:
            spark.sql(s.replace("TABLE", f"delta.`{table}`"))
        for v in [None, *versions]:
            reader = spark.read.format("delta")
            rows = (reader if v is None else reader.option("versionAsOf", v)).load(table)
            texts = [r[0] for r in rows.selectExpr(f"to_json(struct(*), map({options}))").collect()]
            content = {"columns": rows.columns, "rows": sorted(map(json.loads, texts), key=lambda r: json.dumps(r, sort_keys=True))}
            with open(table + ("" if v is None else f"@{v}") + ".json", "w", encoding="utf-8") as f:
                json.dump(content, f, ensure_ascii=False, indent=0)
        for folder, _, files in os.walk(table):
            for f in files:
                if f.endswith(".crc"):
                    os.remove(os.path.join(folder, f))


if __name__ == "__main__":
    main()
