"""Writes the SQL of a shop: people, items, orders and reviews from January 2024 to June 2025.

    python shop.py [PEOPLE] | psql ...

An item lasts for some days, and a person who is pleased then orders again; one who is not stays away for long. So who orders in the
next 30 days can be told from when people ordered, how long these items last, and how people reviewed them. The same number of people
gives the same SQL: 4,000 people make 30,000 orders.
"""

from __future__ import annotations

import sys

import numpy as np

START = np.datetime64("2024-01-01", "s")
DAYS = 545
TABLES = """SET client_min_messages = warning;
DROP TABLE IF EXISTS reviews, orders, items, people;
CREATE TABLE people (id int PRIMARY KEY, age int NOT NULL);
CREATE TABLE items (id int PRIMARY KEY, price float8 NOT NULL, lasts float8 NOT NULL);
CREATE TABLE orders (id int PRIMARY KEY, person int NOT NULL REFERENCES people, item int NOT NULL REFERENCES items, amount int NOT NULL, at timestamptz NOT NULL);
CREATE TABLE reviews (id int PRIMARY KEY, person int NOT NULL REFERENCES people, item int NOT NULL REFERENCES items, stars int NOT NULL, at timestamptz NOT NULL);
"""
INDEX = "CREATE INDEX ON orders (person, at);\nANALYZE;\n"


def shop(people: int) -> dict[str, dict[str, np.ndarray]]:
    """Tables by name, as columns of equal lengths; times are in seconds since 1970. Orders and reviews are in the order of time."""
    draw = np.random.default_rng(1)
    items = people // 10
    lasts = np.round(draw.choice([5, 10, 20, 40], items) * draw.uniform(0.8, 1.2, items), 1)
    quality = draw.normal(0, 1, items)
    orders: list[tuple[np.ndarray, ...]] = []
    reviews: list[tuple[np.ndarray, ...]] = []
    who, at = np.arange(people), draw.uniform(0, 400, people)  # when each person orders next, in days
    while len(who):
        item, amount = draw.integers(0, items, len(who)), draw.integers(1, 3, len(who))
        orders.append((who, item, amount, at))
        stars = np.clip(np.round(3.5 + quality[item] + draw.normal(0, 0.8, len(who))), 1, 5).astype(int)
        when = at + draw.uniform(1, 5, len(who))
        told = (draw.random(len(who)) < 0.4) & (when < DAYS)
        reviews.append((who[told], item[told], stars[told], when[told]))
        leaves = draw.random(len(who)) < np.where(stars <= 2, 0.6, 0.03)
        at = at + np.where(leaves, draw.uniform(40, 300, len(who)), lasts[item] * amount * draw.lognormal(0, 0.3, len(who)))
        who, at = who[at < DAYS], at[at < DAYS]

    def table(parts: list[tuple[np.ndarray, ...]], name: str) -> dict[str, np.ndarray]:
        person, item, value, day = map(np.concatenate, zip(*parts))
        by = np.argsort(day, kind="stable")
        seconds = START.astype(np.int64) + (day[by] * 86400).astype(np.int64)
        return {"id": np.arange(len(by)), "person": person[by], "item": item[by], name: value[by], "at": seconds}

    return {
        "people": {"id": np.arange(people), "age": draw.integers(18, 90, people)},
        "items": {"id": np.arange(items), "price": np.round(draw.lognormal(2, 1, items), 2), "lasts": lasts},
        "orders": table(orders, "amount"),
        "reviews": table(reviews, "stars"),
    }


def main() -> None:
    out = sys.stdout
    out.write(TABLES)
    for name, columns in shop(int(sys.argv[1]) if len(sys.argv) > 1 else 4000).items():
        texts = [np.char.add(np.datetime_as_string(v.astype("datetime64[s]")), "+00") if k == "at" else v for k, v in columns.items()]
        out.write(f"COPY {name} FROM STDIN;\n")
        out.writelines("\t".join(map(str, row)) + "\n" for row in zip(*(t.tolist() for t in texts)))
        out.write("\\.\n")
    out.write(INDEX)


if __name__ == "__main__":
    main()
