"""Makes the folders beside this file: kuzu 0.11.3 exports a database as Parquet and as CSV, and ladybug 0.22.0 in its own form.

pip install kuzu==0.11.3 ladybug==0.22.0
python make.py kuzu && python make.py ladybug    # two processes, as one cannot load both
"""

import importlib
import os
import pathlib
import shutil
import sys
import tempfile

SCHEMA = """CREATE NODE TABLE User(name STRING, age INT64, height DOUBLE, ok BOOLEAN, born DATE, seen TIMESTAMP, tags STRING[], emb FLOAT[3], PRIMARY KEY(name))
CREATE NODE TABLE City(id %s, name STRING DEFAULT 'x', population INT32, PRIMARY KEY(id))
CREATE NODE TABLE Nobody(k INT64 PRIMARY KEY)
CREATE REL TABLE Follows(FROM User TO User, since INT64, MANY_MANY)
CREATE REL TABLE LivesIn(FROM User TO City, MANY_ONE)
CREATE REL TABLE Nothing(FROM Nobody TO City, w FLOAT)"""

PAIRS = "CREATE REL TABLE Knows(FROM User TO User, FROM User TO City, w FLOAT)"

ROWS = """CREATE (:User {name:'Adam',age:30,height:1.5,ok:true,born:date('1990-01-02'),seen:timestamp('2024-01-02 03:04:05'),tags:['a','b'],emb:[1.0,2.0,3.0]})
CREATE (:User {name:'Karis "q", é',age:40,height:1.75,ok:false,born:date('1980-01-02'),seen:timestamp('2024-01-02 03:04:06'),tags:[],emb:[1.5,2.5,3.5]})
CREATE (:User {name:'Zhang',age:50,height:2.0,ok:true,born:date('1970-01-02'),seen:timestamp('2024-01-02 03:04:07'),tags:['z'],emb:[0.5,0.25,0.125]})
CREATE (:City {%sname:'Waterloo',population:150000})
CREATE (:City {%sname:'Guelph',population:75000})
MATCH (a:User {name:'Adam'}),(b:User {name:'Zhang'}) CREATE (a)-[:Follows {since:2020}]->(b)
MATCH (a:User {name:'Zhang'}),(b:User {name:'Adam'}) CREATE (a)-[:Follows {since:2021}]->(b)
MATCH (a:User {name:'Adam'}),(b:City {name:'Guelph'}) CREATE (a)-[:LivesIn]->(b)
MATCH (a:User {name:'Zhang'}),(b:City {name:'Waterloo'}) CREATE (a)-[:LivesIn]->(b)"""

KNOWS = """MATCH (a:User {name:'Zhang'}),(b:City {name:'Waterloo'}) CREATE (a)-[:Knows {w:0.5}]->(b)
MATCH (a:User {name:'Zhang'}),(b:User {name:'Adam'}) CREATE (a)-[:Knows {w:1.5}]->(b)"""


UUIDS = """CREATE NODE TABLE P(id UUID, u UUID, us UUID[], n STRING, PRIMARY KEY(id))
CREATE REL TABLE K(FROM P TO P, u UUID, w INT64)
CREATE (:P {id:uuid('00112233-4455-6677-8899-AABBCCDDEEFF'), u:uuid('ffffffff-ffff-ffff-ffff-ffffffffffff'), us:[uuid('00000000-0000-0000-0000-000000000001')], n:'a'})
CREATE (:P {id:uuid('80000000-0000-4000-8000-000000000001'), us:[], n:'b'})
CREATE (:P {id:uuid('7fffffff-0000-4000-8000-000000000002'), u:uuid('00000000-0000-0000-0000-000000000000'), n:'c'})
MATCH (a:P {n:'a'}),(b:P {n:'b'}) CREATE (a)-[:K {u:uuid('12345678-9abc-def0-1234-56789abcdef0'), w:1}]->(b)
MATCH (a:P {n:'b'}),(b:P {n:'c'}) CREATE (a)-[:K {w:2}]->(b)"""


def export(package: str, out: str, options: str, serial: bool, pairs: bool) -> None:
    """Makes a database and exports it to a folder."""
    key = "SERIAL" if serial else "INT64"
    ids = ("", "") if serial else ("id:7,", "id:5,")
    statements = (SCHEMA % key).splitlines() + ([PAIRS] if pairs else []) + (ROWS % ids).splitlines() + (KNOWS.splitlines() if pairs else [])
    write(package, out, options, statements)


def write(package: str, out: str, options: str, statements: list[str]) -> None:
    """Exports what statements make."""
    module = importlib.import_module(package)
    with tempfile.TemporaryDirectory() as folder:
        connection = module.Connection(module.Database(os.path.join(folder, "db")))
        for statement in statements:
            connection.execute(statement)
        shutil.rmtree(out, ignore_errors=True)
        connection.execute(f"EXPORT DATABASE '{out}' ({options})")


os.chdir(pathlib.Path(__file__).parent)
if sys.argv[1] == "kuzu":
    export("kuzu", "parquet", "format='parquet'", serial=False, pairs=True)
    export("kuzu", "csv", "format='csv', header=true", serial=True, pairs=True)
    export("kuzu", "plain", "format='csv', delim='|'", serial=True, pairs=True)
    write("kuzu", "uuid", "format='parquet'", UUIDS.splitlines())
else:
    export("ladybug", "ladybug", "format='parquet'", serial=False, pairs=False)
    write("ladybug", "uuid-ladybug", "format='parquet'", UUIDS.splitlines())
