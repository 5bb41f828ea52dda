"""Makes the tables that Spark writes, with the rows that Spark reads of them.

    JARS=iceberg-spark-runtime-4.0_2.13-1.10.1.jar python make_spark.py OUT

needs pyspark 4.0.1 and Java 17. Names of files, ids of snapshots and times differ from run to run; the rows do not.
"""

import datetime
import decimal
import glob
import json
import math
import os
import shutil
import sys
import tempfile

from pyspark.sql import SparkSession

OUT = sys.argv[1]
WAREHOUSE = tempfile.mkdtemp()
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", os.environ["JARS"])
    .config("spark.driver.memory", "1g")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.iceberg.vectorization.enabled", "false")  # it fails for decimals with a default
    .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.c.type", "hadoop")
    .config("spark.sql.catalog.c.cache-enabled", "false")
    .config("spark.sql.catalog.c.warehouse", WAREHOUSE)
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
jvm = spark._jvm
os.environ["TZ"] = "UTC"


def sql(text):
    return spark.sql(text)


def micros(v):
    if v.tzinfo is None:
        v = v.replace(tzinfo=datetime.timezone.utc)
    return (v - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def cell(v, kind):
    """The value as the test has it: times are integers of their unit, and bytes hexadecimal digits."""
    if v is None:
        return None
    if isinstance(v, list):
        return [cell(x, kind) for x in v]
    if isinstance(v, datetime.datetime):
        return micros(v)
    if isinstance(v, datetime.date):
        return (v - datetime.date(1970, 1, 1)).days * 86400
    if isinstance(v, (bytes, bytearray)):
        return bytes(v).hex()
    if isinstance(v, decimal.Decimal):
        return int(v) if v == v.to_integral_value() else float(v)
    if isinstance(v, float) and not math.isfinite(v):
        return str(v)
    if kind == "uuid":
        return v.replace("-", "")
    return v


def rows(table, of="", kinds=None):
    found = sql(f"select * from {table}{of}")
    keep = [i for i, f in enumerate(found.schema.fields) if not {"struct", "map"} & {t.split("<")[0] for t in f.dataType.simpleString().split("array<")}]
    names = [found.columns[i] for i in keep]
    return {
        "columns": names,
        "rows": sorted(
            ([cell(r[i], (kinds or {}).get(found.columns[i])) for i in keep] for r in found.collect()),
            key=json.dumps,
        ),
    }


def java(table):
    return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)


def finish(name, refs=(), kinds=None, keep_metadata=False):
    """Puts the table and its rows into OUT."""
    table = f"c.n.{name}"
    if not refs and name != "fresh":  # fewer files
        sql(f"call c.system.expire_snapshots(table => 'n.{name}', older_than => timestamp'2100-01-01 00:00:00', retain_last => 1)")
    expected = {"": rows(table, "", kinds)}
    for ref, of in refs:
        expected[ref] = rows(table, of, kinds)
    source, target = f"{WAREHOUSE}/n/{name}", f"{OUT}/{name}"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*.crc"))
    if not keep_metadata:
        versions = sorted(glob.glob(f"{target}/metadata/v*.metadata.json"), key=lambda p: int(os.path.basename(p)[1:].split(".")[0]))
        for path in versions[:-1]:
            os.remove(path)
    with open(f"{OUT}/{name}.json", "w") as f:
        f.write(
            "{\n"
            + ",\n".join(
                f' {json.dumps(ref)}: {{"columns": {json.dumps(e["columns"], ensure_ascii=False)}, "rows": [\n  '
                + ",\n  ".join(json.dumps(r, ensure_ascii=False) for r in e["rows"])
                + "\n ]}"
                for ref, e in expected.items()
            )
            + "\n}\n"
        )
    print(name, sum(os.path.getsize(p) for p in glob.glob(f"{target}/*/**", recursive=True) if os.path.isfile(p)), len(expected[""]["rows"]), flush=True)


def version1():
    sql("""create table c.n.version1 (src int, dst int, weight float, price decimal(9,2), day string, old string) using iceberg
        partitioned by (day, bucket(4, src)) tblproperties('format-version'='1')""")
    sql("insert into c.n.version1 values (0,1,0.5,1.25,'a','x'), (1,2,null,2.5,'a b','y'), (2,3,1.5,null,null,'z')")
    sql("alter table c.n.version1 alter column src type bigint")
    sql("alter table c.n.version1 alter column weight type double")
    sql("alter table c.n.version1 alter column price type decimal(18,2)")
    sql("alter table c.n.version1 rename column dst to target")
    sql("alter table c.n.version1 drop column old")
    sql("alter table c.n.version1 add column old bigint after src")
    sql("insert into c.n.version1 values (5000000000,7,3,0.1,123456789012.25,'ü/=%')")
    sql("delete from c.n.version1 where src = 0")
    first = sql("select snapshot_id from c.n.version1.snapshots order by committed_at").collect()[0][0]
    finish("version1", [(f"@version={first}", f" version as of {first}")])


def positions():
    sql("""create table c.n.positions (src bigint, dst bigint, at timestamp, kind string) using iceberg partitioned by (days(at))
        tblproperties('format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read',
        'write.merge.mode'='merge-on-read', 'write.delete.granularity'='partition', 'write.parquet.compression-codec'='gzip')""")
    sql("""insert into c.n.positions select id, id + 1, timestamp'2026-03-01 12:00:00' + make_interval(0,0,0,cast(id % 2 as int)), 'k'
        from range(0, 40, 1, 1)""")
    sql("delete from c.n.positions where src % 7 = 3")
    sql("alter table c.n.positions add partition field kind")
    sql("insert into c.n.positions select id, id + 1, timestamp'2026-03-01 12:00:00', 'k' from range(40, 60, 1, 1)")
    sql("update c.n.positions set dst = -1 where src between 20 and 50 and src % 5 = 0")
    sql("alter table c.n.positions drop partition field days(at)")
    sql("alter table c.n.positions write unordered")
    sql("""merge into c.n.positions t using (select id as src from range(55, 65)) s on t.src = s.src
        when matched then delete when not matched then insert (src, dst, at, kind) values (s.src, 0, timestamp'2026-03-05 00:00:00.000001', null)""")
    finish("positions")


def vectors():
    sql("""create table c.n.vectors (src bigint, dst bigint, `größe m` double) using iceberg
        tblproperties('format-version'='3', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.metadata.compression-codec'='gzip')""")
    sql("insert into c.n.vectors select id, id * id, id / 2 from range(0, 60, 1, 1)")
    sql("delete from c.n.vectors where src % 3 = 0")
    sql("delete from c.n.vectors where src > 55")
    t = java("c.n.vectors")
    types, literal = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.expressions.Literal
    u = t.updateSchema()
    u.addColumn("count", types.IntegerType.get(), literal.of(7))
    u.addColumn("label", types.StringType.get(), literal.of("keiner"))
    u.addColumn("since", types.DateType.get(), literal.of("2026-02-28").to(types.DateType.get()))
    u.addColumn("seen", types.TimestampType.withZone(), literal.of("2026-02-28T12:00:00.5+00:00").to(types.TimestampType.withZone()))
    u.addColumn("price", types.DecimalType.of(9, 2), literal.of("14.20").to(types.DecimalType.of(9, 2)))
    u.addColumn("yes", types.BooleanType.get(), literal.of(True))
    u.commit()
    sql("insert into c.n.vectors values (100, 1, 0.5, 8, null, date'2026-01-01', null, 1.5, false)")
    sql("update c.n.vectors set dst = -5 where src = 50")
    finish("vectors")


def add_keys(table, ids, data, spec=None, partition=None):
    """Commits a file of keys to a table, whose rows with them are deleted: data is a list of dicts."""
    t = java(table)
    schema = t.schema().select(jvm.java.util.ArrayList([t.schema().findColumnName(i) for i in ids]))
    spec = spec or t.spec()
    ints = spark.sparkContext._gateway.new_array(jvm.int, len(ids))
    for i, x in enumerate(ids):
        ints[i] = x
    factory = jvm.org.apache.iceberg.data.GenericAppenderFactory(t.schema(), spec, ints, schema, None)
    out = t.io().newOutputFile(f"{t.location()}/data/keys-{jvm.java.util.UUID.randomUUID()}.parquet")
    encrypted = jvm.org.apache.iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(out)
    w = factory.newEqDeleteWriter(encrypted, jvm.org.apache.iceberg.FileFormat.PARQUET, partition)
    mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
    feature = jvm.com.fasterxml.jackson.databind.DeserializationFeature.USE_LONG_FOR_INTS
    mapper.configure(feature, schema.columns().get(0).type().typeId().toString() == "LONG")
    for d in data:
        # Values of JSON, as Python has one type of integers only.
        plain = {k: v for k, v in d.items() if isinstance(v, (int, float, str, type(None)))}
        values = mapper.readValue(json.dumps(plain), jvm.java.lang.Class.forName("java.util.HashMap"))
        for k in d.keys() - plain.keys():
            values.put(k, d[k])
        w.write(jvm.org.apache.iceberg.data.GenericRecord.create(schema).copy(values))
    w.close()
    t.newRowDelta().addDeletes(w.toDeleteFile()).commit()


def keys():
    sql("create table c.n.keys (id int, name string, day date, score double) using iceberg tblproperties('format-version'='2')")
    sql("insert into c.n.keys select id, concat('n', id % 4), date'2026-01-01', id / 4.0D from range(0, 30, 1, 1)")
    sql("insert into c.n.keys values (100, null, null, null), (101, 'n1', null, double('nan')), (102, '', date'1969-12-31', -0.0D)")
    add_keys("c.n.keys", [1], [{"id": i} for i in (3, 4, 5, 100000)])
    add_keys("c.n.keys", [2, 4], [{"name": "n1", "score": 0.25}, {"name": None, "score": None}, {"name": "n2"}])
    sql("insert into c.n.keys values (3, 'again', null, 1), (4, 'n1', null, 0.25)")
    sql("alter table c.n.keys alter column id type bigint")
    sql("alter table c.n.keys rename column name to label")
    sql("insert into c.n.keys values (6000000000, 'big', date'2026-01-02', 2)")
    add_keys("c.n.keys", [1], [{"id": i} for i in (7, 6000000000)])
    add_keys("c.n.keys", [3], [{"day": jvm.java.time.LocalDate.parse("1969-12-31")}])
    sql("alter table c.n.keys add column extra string")
    sql("insert into c.n.keys values (200, 'x', null, 1, 'e'), (201, 'y', null, 1, null)")
    add_keys("c.n.keys", [5], [{"extra": "e"}])
    sql("insert into c.n.keys values (8, 'late', null, null, null)")
    sql("call c.system.rewrite_manifests('n.keys')")
    finish("keys")


def key_partitions():
    sql("create table c.n.key_partitions (id bigint, part string) using iceberg partitioned by (part) tblproperties('format-version'='2')")
    sql("insert into c.n.key_partitions select id, if(id % 2 = 0, 'a', null) from range(0, 12, 1, 1)")
    t = java("c.n.key_partitions")
    p = jvm.org.apache.iceberg.PartitionData(t.spec().partitionType())
    p.set(0, "a")
    add_keys("c.n.key_partitions", [1], [{"id": i} for i in (2, 3, 4)], None, p)
    q = jvm.org.apache.iceberg.PartitionData(t.spec().partitionType())
    add_keys("c.n.key_partitions", [1], [{"id": i} for i in (5, 6)], None, q)
    add_keys("c.n.key_partitions", [1], [{"id": i} for i in (10, 11)], jvm.org.apache.iceberg.PartitionSpec.unpartitioned(), None)
    finish("key_partitions")


def branches():
    sql("create table c.n.branches (src bigint, dst bigint) using iceberg tblproperties('format-version'='2')")
    sql("insert into c.n.branches values (0, 1), (1, 2)")
    sql("alter table c.n.branches create tag first")
    sql("alter table c.n.branches create branch audit")
    sql("insert into c.n.branches.branch_audit values (9, 9)")
    sql("alter table c.n.branches add column w double")
    sql("insert into c.n.branches values (2, 3, 0.5)")
    when = sql("select committed_at from c.n.branches.snapshots order by committed_at").collect()[0][0]
    when = when.replace(tzinfo=datetime.timezone.utc)
    finish(
        "branches",
        [
            ("@ref=first", " version as of 'first'"),
            ("@ref=audit", ".branch_audit"),
            ("@ref=main", ""),
            (f"@time={when.isoformat()}", f" timestamp as of '{when.isoformat()}'"),
        ],
        keep_metadata=True,
    )


def corners():
    sql("create table c.n.fresh (src bigint, dst bigint) using iceberg")
    finish("fresh")
    sql("create table c.n.emptied (src bigint, dst bigint) using iceberg tblproperties('format-version'='2')")
    sql("insert into c.n.emptied values (0, 1)")
    sql("delete from c.n.emptied")
    finish("emptied")
    sql(
        "create table c.n.all_deleted (src bigint, dst bigint, none double) using iceberg tblproperties('format-version'='3', 'write.delete.mode'='merge-on-read')"
    )
    sql("insert into c.n.all_deleted values (0, 1, null), (1, 2, null)")
    java("c.n.all_deleted")
    sql("delete from c.n.all_deleted where src % 2 = 0")
    sql("delete from c.n.all_deleted where dst % 2 = 0 or src * 0 = 0")
    finish("all_deleted")


def kinds():
    sql("""create table c.n.kinds (b boolean, i int, l bigint, f float, d double, n decimal(38,0), m decimal(12,0), p decimal(20,5), day date, at timestamp, local timestamp_ntz,
        s string, bytes binary, list array<bigint>, deep array<array<string>>, st struct<x:int,y:string>, mp map<string,int>, ls array<struct<x:int>>, none double) using iceberg
        tblproperties('format-version'='2', 'write.parquet.compression-codec'='snappy')""")
    t = java("c.n.kinds")
    types = jvm.org.apache.iceberg.types.Types
    t.updateSchema().addColumn("id", types.UUIDType.get()).commit()
    sql("""insert into c.n.kinds values
        (true, 1, 5000000000, 0.1, 0.1, 12345678901234567890, 123456789012, 1.5, date'2026-02-28', timestamp'2026-02-28 12:00:00.000001', timestamp_ntz'1969-12-31 23:59:59.5',
         'grün', x'00ff', array(1, 2), array(array('a', ''), array()), struct(1, 'x'), map('a', 1), array(struct(1)), null, '00112233-4455-6677-8899-aabbccddeeff'),
        (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
        (false, -1, -1, float('nan'), double('-inf'), -1, -1, -0.00001, date'0001-01-01', timestamp'9999-12-31 00:00:00', timestamp_ntz'2000-01-01 00:00:00', '', x'', array(), array(), struct(null, null), map(), array(), null, null)""")
    finish("kinds", kinds={"id": "uuid"})


def imported():
    """Files of Spark without field ids, with the column of the partition in their paths alone."""
    folder = f"{WAREHOUSE}/n/imported/plain"
    sql("create table c.n.imported (src bigint, dst bigint, day string) using iceberg partitioned by (day)")
    sql("select id as src, id + 1 as dst, concat('d ', id % 2) as day from range(0, 6, 1, 1)").write.partitionBy("day").parquet(folder)
    sql(f"call c.system.add_files(table => 'n.imported', source_table => '`parquet`.`{folder}`')")
    sql("alter table c.n.imported rename column dst to target")
    sql("insert into c.n.imported values (100, 101, 'd 0')")
    finish("imported")


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    only = sys.argv[2:]
    for make in (version1, positions, vectors, keys, key_partitions, branches, corners, kinds, imported):
        if only and make.__name__ not in only:
            continue
        try:
            make()
        except Exception as e:
            print(make.__name__, "FAILED", type(e), str(e)[:1500], "CAUSE", [x[:300] for x in str(e).split("\n") if "Caused by" in x], flush=True)
