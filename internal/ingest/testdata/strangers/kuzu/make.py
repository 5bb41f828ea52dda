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


def export(package: str, out: str, options: str, serial: bool, pairs: bool) -> None:
    """Makes a database and exports it to a folder."""
    module = importlib.import_module(package)
    key = "SERIAL" if serial else "INT64"
    ids = ("", "") if serial else ("id:7,", "id:5,")
    statements = (SCHEMA % key).splitlines() + ([PAIRS] if pairs else []) + (ROWS % ids).splitlines() + (KNOWS.splitlines() if pairs else [])
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
else:
    export("ladybug", "ladybug", "format='parquet'", serial=False, pairs=False)
