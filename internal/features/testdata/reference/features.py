"""The law of features: what a feature of a column is, as an executable definition.

A feature is fitted on some rows of a column and applied to all of them. Nothing here depends on the order of rows, and what is exact is
computed with integers and fractions, and rounded to float64 once. A value is None where it is missing; a float that is not a number is missing,
too. Results are float64; a store has them rounded to its dtype once.

Fit and apply are two functions: the state between them is what features.json keeps, plain JSON.
"""

from __future__ import annotations

import bisect
import datetime
import itertools
import math
import re
import statistics
import struct
import sys
import zoneinfo
from collections import Counter
from fractions import Fraction
from typing import Any, Optional

Number = Optional[float]
Text = Optional[str]
State = dict[str, Any]


class Refused(ValueError):
    """A feature that cannot be made, with the reason."""


# Numbers. A part is clipped, then filled, then scaled or put into buckets; each step is fitted on the result of the one before.


def missing(x: Any) -> bool:
    return x is None or (isinstance(x, float) and math.isnan(x))


def known(column: list[Number]) -> list[float]:
    return [x for x in column if not missing(x)]  # type: ignore[misc]


def finite(column: list[Number]) -> None:
    for row, x in enumerate(column):
        if not missing(x) and math.isinf(x):  # type: ignore[arg-type]
            raise Refused(f"found an infinity in row {row}")


def fit_clip(bounds: tuple[float, float]) -> State:
    low, high = bounds
    if not low < high:
        raise Refused(f"found bounds {low} and {high}, expected the lower one first")
    return {"clip": [low, high]}


def apply_clip(state: State, x: Number) -> Number:
    low, high = state["clip"]
    return None if missing(x) else min(max(x, low), high)  # type: ignore[type-var]


def fit_impute(how: str, rows: list[Number], constant: float = 0.0) -> State:
    values = known(rows)
    finite(rows)
    if how == "constant":
        return {"fill": constant}
    if not values:
        raise Refused("found no value in the rows of the fit")
    return {"fill": {"mean": mean, "median": median, "mode": mode}[how](values)}


def mean(values: list[float]) -> float:
    return rounded(sum(map(Fraction, values)) / len(values))


def rounded(x: Fraction) -> float:
    """The float64 nearest to a fraction, ties to even; an infinity beyond the greatest."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return math.copysign(math.inf, x.numerator)


def median(values: list[float]) -> float:
    """The middle value; of two, their exact mean."""
    v = sorted(values)
    return rounded((Fraction(v[(len(v) - 1) // 2]) + Fraction(v[len(v) // 2])) / 2)


def mode(values: list[float]) -> float:
    """The most frequent value; of several, the least."""
    of = Counter(values)
    return min(of, key=lambda x: (-of[x], x))


def apply_impute(state: State, x: Number) -> float:
    return state["fill"] if missing(x) else x  # type: ignore[no-any-return]


def quantile(ordered: list[float], j: int, parts: int) -> float:
    """The value at the position j/parts of ordered values, between two neighbours by their distance."""
    i, rest = divmod(j * (len(ordered) - 1), parts)
    if not rest:
        return ordered[i]
    return ordered[i] + (ordered[i + 1] - ordered[i]) * (rest / parts)


def fit_scale(how: str, rows: list[Number], quantiles: int = 1000) -> State:
    """At most `quantiles` of them, and no more than rows of the fit, with those that have no value."""
    finite(rows)
    v = sorted(known(rows))
    if how in ("log", "signed-log"):
        return {"scale": how}
    if not v:
        raise Refused("found no value in the rows of the fit")
    if how == "standard":
        m = sum(map(Fraction, v)) / len(v)
        variance = sum(Fraction(x) ** 2 for x in v) / len(v) - m * m
        if v[0] == v[-1]:
            return {"scale": how, "mean": v[0], "deviation": 0.0}
        return {"scale": how, "mean": rounded(m), "deviation": distance(math.sqrt(rounded(variance)))}
    if how in ("min-max", "min-max-clip"):
        distance(v[-1] - v[0])
        return {"scale": how, "least": v[0], "greatest": v[-1]}
    if how == "max-abs":
        return {"scale": how, "greatest": max(abs(v[0]), abs(v[-1]))}
    if how == "robust":
        return {"scale": how, "median": quantile(v, 1, 2), "range": distance(quantile(v, 3, 4) - quantile(v, 1, 4))}
    if how in ("uniform-quantiles", "normal-quantiles"):
        n = max(1, min(quantiles, len(rows)))
        q = [quantile(v, j, n - 1) for j in range(n)] if n > 1 else [v[0]]
        for a, b in zip(q, q[1:]):
            distance(b - a)
        return {"scale": how, "quantiles": q}
    raise Refused(f"found scale {how!r}")


def distance(x: float) -> float:
    """A divisor. An infinite one is refused: it would turn every result into 0. Distances and squares of numbers above about 1e154 overflow to it."""
    if not math.isfinite(x):
        raise Refused("found a range that float64 does not have")
    return x


def divided(x: float, by: float) -> float:
    return x / by if by else x


def apply_scale(state: State, x: Number) -> Number:
    if missing(x):
        return None
    assert x is not None
    how = state["scale"]
    if how == "standard":
        return divided(x - state["mean"], state["deviation"])
    if how in ("min-max", "min-max-clip"):
        y = divided(x - state["least"], state["greatest"] - state["least"])
        return min(max(y, 0.0), 1.0) if how == "min-max-clip" else y
    if how == "max-abs":
        return divided(x, state["greatest"])
    if how == "robust":
        return divided(x - state["median"], state["range"])
    if how == "log":
        if x <= -1:
            raise Refused(f"found {x}, expected more than -1")
        return math.log1p(x)
    if how == "signed-log":
        return math.copysign(math.log1p(abs(x)), x)
    q = state["quantiles"]
    if q[0] == q[-1]:  # a constant
        return 0.0
    if how == "uniform-quantiles":
        return rank(q, x)
    low, high = PPF_LEAST, 1 - PPF_LEAST
    if x <= q[0]:
        y = low
    elif x >= q[-1]:
        y = high
    else:
        y = min(max(rank(q, x), low), high)
    return statistics.NormalDist().inv_cdf(y)


PPF_LEAST = 1e-7  # ranks nearer to 0 and 1 have the normal quantile of this one


def rank(q: list[float], x: float) -> float:
    """The share of values below x: 0 up to the least quantile, 1 from the greatest, between two by the distance, and for a quantile that occurs
    several times the middle of its ranks."""
    last = len(q) - 1
    if x <= q[0]:
        return 0.0
    if x >= q[last]:
        return 1.0
    left, right = bisect.bisect_left(q, x), bisect.bisect_right(q, x)
    if left < right:
        return (left / last + (right - 1) / last) / 2
    return ((left - 1) + (x - q[left - 1]) / (q[left] - q[left - 1])) / last


def fit_buckets(how: str, rows: list[Number], count: int = 0, edges: list[float] | None = None) -> State:
    """Inner edges: a value is in the bucket whose number is the number of inner edges that are not above it."""
    finite(rows)
    if how == "edges":
        assert edges is not None
        if any(b <= a for a, b in zip(edges, edges[1:])):
            raise Refused(f"found edges {edges}, expected them to grow")
        return {"edges": edges[1:-1]}
    v = sorted(known(rows))
    if not v:
        raise Refused("found no value in the rows of the fit")
    if how == "width":
        step = distance(v[-1] - v[0]) / count
        return {"edges": [] if v[0] == v[-1] else [v[0] + i * step for i in range(1, count)]}
    # The inverse of the cumulative shares, averaged where a share is met exactly.
    found = [v[0]]
    for j in range(1, count):
        i, rest = divmod(j * len(v), count)
        found.append(v[i] if rest else rounded((Fraction(v[i - 1]) + Fraction(v[i])) / 2))
    found.append(v[-1])
    distinct = sorted(set(found))
    return {"edges": distinct[1:-1]}


def apply_buckets(state: State, x: Number) -> int | None:
    finite([x])
    return None if missing(x) else bisect.bisect_right(state["edges"], x)  # type: ignore[arg-type]


def norms(rows: list[list[float]], how: str) -> list[list[float]]:
    """Rows divided by their norm; a row of zeros stays. Where float64 does not have the sum of a norm (it is infinite, or one of squares is below the least normal
    number, so that it lacks bits), a row is divided by its greatest magnitude first."""
    out = []
    for row in rows:
        greatest = max(map(abs, row), default=0.0)
        if how == "max":
            out.append([divided(x, greatest) for x in row])
            continue
        total = norm_sum(row, how)
        if math.isinf(total) or (how == "l2" and total < sys.float_info.min):
            row = [divided(x, greatest) for x in row]
            total = norm_sum(row, how)
        out.append([divided(x, math.sqrt(total) if how == "l2" else total) for x in row])
    return out


def norm_sum(row: list[float], how: str) -> float:
    """The sum of the magnitudes of a row, or of their squares; an infinity beyond the greatest number."""
    try:
        return math.fsum(x * x if how == "l2" else abs(x) for x in row)
    except OverflowError:
        return math.inf


# Categories.


def fit_categories(rows: list[Text], least: int = 1, most: int = 0) -> State:
    """Texts in the order of their UTF-8 bytes. Rare are those in fewer rows than least, and those beyond the most frequent ones if `most` bounds
    them together with the position of the rare ones: of equal counts the later text in the order stays."""
    of = Counter(x for x in rows if x is not None)
    order = sorted(of, key=lambda x: x.encode())
    keep = [x for x in order if of[x] >= least]
    if most and len(keep) + 1 > most:
        ranked = sorted(range(len(keep)), key=lambda i: (of[keep[i]], i), reverse=True)[: most - 1]
        keep = [keep[i] for i in sorted(ranked)]
    return {"texts": keep, "rare": [x for x in order if x not in set(keep)], "counts": [of[x] for x in keep], "rows": sum(of.values())}


def apply_code(state: State, x: Text) -> int:
    """1, 2, ... for the texts; 0 for the others and for a missing one."""
    return 1 + state["texts"].index(x) if x in state["texts"] else 0


def apply_one_hot(state: State, x: Text) -> list[float]:
    """A position per text, then one for all others, then one for a missing text."""
    n = len(state["texts"])
    out = [0.0] * (n + 2)
    out[n + 1 if x is None else state["texts"].index(x) if x in state["texts"] else n] = 1.0
    return out


def apply_frequency(state: State, x: Text) -> float:
    """The share of the rows of the fit that have the text, among those that have one."""
    return state["counts"][state["texts"].index(x)] / state["rows"] if x in state["texts"] else 0.0


def tags(x: Text, separator: str) -> list[str]:
    """The distinct tags of a text: none of a missing or empty one. A tag is not empty. Blanks belong to a tag."""
    return sorted(set(x.split(separator)) - {""}, key=str.encode) if x else []


def apply_multi_hot(state: State, x: Text, separator: str) -> list[float]:
    """A position per tag, then one for all others."""
    n = len(state["texts"])
    out = [0.0] * (n + 1)
    for t in tags(x, separator):
        out[state["texts"].index(t) if t in state["texts"] else n] = 1.0
    return out


# Texts.


def murmur3(data: bytes, seed: int = 0) -> int:
    """MurmurHash3 x86 32 as a signed number."""
    h, mask = seed, 0xFFFFFFFF
    for i in range(0, len(data) - len(data) % 4, 4):
        h ^= mixed(int.from_bytes(data[i : i + 4], "little"))
        h = ((h << 13 | h >> 19) & mask) * 5 + 0xE6546B64 & mask
    tail = data[len(data) - len(data) % 4 :]
    if tail:
        h ^= mixed(int.from_bytes(tail, "little"))
    h ^= len(data)
    for factor, shift in ((1, 16), (0x85EBCA6B, 13), (0xC2B2AE35, 16)):
        h = h * factor & mask
        h ^= h >> shift
    return h - (1 << 32) if h >> 31 else h


def mixed(k: int) -> int:
    k = k * 0xCC9E2D51 & 0xFFFFFFFF
    k = (k << 15 | k >> 17) & 0xFFFFFFFF
    return k * 0x1B873593 & 0xFFFFFFFF


def words(text: str) -> list[str]:
    """Runs of two or more letters, digits and underscores, in lower case."""
    return re.findall(r"\b\w\w+\b", lower(text))


def lower(text: str) -> str:
    """Each character by Unicode's simple mapping, which depends on no other character."""
    return "".join(c.lower()[0] for c in text)


def grams(of: list[str], least: int, most: int, between: str) -> list[str]:
    return [between.join(of[i : i + n]) for n in range(least, most + 1) for i in range(len(of) - n + 1)]


def apply_hash(x: Text, dim: int, unit: str = "words", least: int = 1, most: int = 1, sign: bool = True) -> list[float]:
    """A position per hash: the sum of the signs of the words or character n-grams that have it."""
    out = [0.0] * dim
    text = x or ""
    for gram in grams(words(text), least, most, " ") if unit == "words" else grams(list(re.sub(r"\s\s+", " ", lower(text))), least, most, ""):
        h = murmur3(gram.encode())
        out[abs(h) % dim] += -1.0 if sign and h < 0 else 1.0
    return out


# Times: seconds since 1970-01-01T00:00:00Z, as integers in a unit.

PERIODS = {"month": 12, "weekday": 7, "hour": 24, "minute": 60, "day": 31, "yearday": 365}


def calendar(seconds: int, part: str, zone: str = "UTC") -> list[float]:
    """A part of a time in a zone, or the sine and cosine of a part ("month-cycle") in its period."""
    t = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    t = t.astimezone(zoneinfo.ZoneInfo(zone))
    leap = t.year % 4 == 0 and (t.year % 100 != 0 or t.year % 400 == 0)
    of = {
        "year": t.year, "quarter": (t.month + 2) // 3, "month": t.month, "day": t.day, "weekday": t.weekday(), "hour": t.hour, "minute": t.minute,
        "second": t.second, "yearday": t.timetuple().tm_yday, "isoweek": t.isocalendar()[1], "weekend": int(t.weekday() >= 5),
    }  # fmt: skip
    if not part.endswith("-cycle"):
        return [float(of[part])]
    part = part.removesuffix("-cycle")
    first = part in ("month", "day", "yearday")
    angle = 2 * math.pi * (of[part] - first) / (PERIODS[part] + (leap and part == "yearday"))
    return [math.sin(angle), math.cos(angle)]


def age(ticks: int, at: int, per_unit: int) -> float:
    """The time from a time to a fixed one, in a unit of per_unit ticks; negative after it."""
    return float(at - ticks) / per_unit


def age_at_seed(time: int | float, seed: int | float, time_per_second: int, seed_per_second: int, unit: str) -> float:
    """How long before the time of a seed something happened, as float32; negative after it. Times are ticks, so many per second, or plain numbers, of which unit is ""."""
    finer = max(time_per_second, seed_per_second)
    by_seed, by_time = finer // seed_per_second, finer // time_per_second
    per_unit = finer * SECONDS[unit] if unit else 1
    if isinstance(time, float) or isinstance(seed, float):
        time, seed = float(time), float(seed)
    difference = float(seed * by_seed - time * by_time)  # of whole numbers exact, and rounded once
    return struct.unpack("f", struct.pack("f", difference / per_unit))[0]


# Features: parts side by side. A column is a list with a value per row; rows of the fit are those for which fit is true.

SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 7 * 86400, "years": 31556952}


def fit_part(part: dict[str, Any], column: list[Any], fit: list[bool]) -> State:
    """What a part is fitted to: its texts, and how each of its numbers is clipped, filled and scaled."""
    rows = [x for x, is_ in zip(column, fit) if is_]
    encode = part.get("encode", "")
    state: State = {}
    if encode in ("code", "one-hot", "frequency", "multi-hot"):
        texts = [t for x in rows for t in tags_of(part, x)] if encode == "multi-hot" else [x or None for x in rows]
        if not rows or not any(t is not None for t in texts):
            raise Refused("found no text in the rows of the fit")
        state = fit_categories(texts, part.get("least", 1), part.get("most", 0))
        if encode != "frequency":
            return state
    if encode == "hash":
        return state
    numbers = [part_numbers(part, state, x) for x in rows]
    width = len(part_numbers(part, state, column[0])) if column else 1
    return {**state, "numbers": [fit_number(part, k, [n[k] for n in numbers]) for k in range(width)]}


def tags_of(part: dict[str, Any], x: Any) -> list[str]:
    if isinstance(x, list):
        return sorted(set(x) - {""}, key=str.encode)
    return tags(x, part["separator"])


def part_numbers(part: dict[str, Any], state: State, x: Any) -> list[Number]:
    """The numbers of a value before they are clipped, filled and scaled; None is a missing one."""
    encode = part.get("encode", "")
    if encode in ("", "buckets"):
        return list(x) if isinstance(x, list) else [x]
    if encode == "length":
        return [float(len(x or ""))]
    if encode == "frequency":
        return [apply_frequency(state, x) if x else None]
    if encode == "ordinal":
        return [(1 + part["order"].index(x) if x in part["order"] else 0) if x else None]
    per_second = part["per_second"]
    if encode == "calendar":
        if x is None:
            return [None] * sum(1 + p.endswith("-cycle") for p in part["parts"])
        return [v for p in part["parts"] for v in calendar(x // per_second, p, part.get("zone") or "UTC")]
    return [None if x is None else age(x, part.get("at", 0) * per_second, per_second * SECONDS[part.get("unit") or "days"])]


def is_cycle(part: dict[str, Any], k: int) -> bool:
    return part.get("encode") == "calendar" and [p.endswith("-cycle") for p in part["parts"] for _ in range(1 + p.endswith("-cycle"))][k]


def fit_number(part: dict[str, Any], k: int, values: list[Number]) -> list[State]:
    """The steps of one number, each fitted on the result of the one before."""
    steps: list[State] = []
    how = "" if is_cycle(part, k) else part.get("scale", "")
    if part.get("clip"):
        steps.append(fit_clip(part["clip"]))
        values = [apply_clip(steps[-1], x) for x in values]
    buckets = part.get("encode") == "buckets"
    if part.get("impute"):
        steps.append(fit_impute(part["impute"], values, part.get("value", 0.0)))
        values = [apply_impute(steps[-1], x) for x in values]
    if how:
        if how not in ("log", "signed-log") and not values:
            raise Refused("found no row in the fit")
        steps.append(fit_scale(how, values))
    if buckets:
        by = "edges" if part.get("edges") else {"rows": "shares"}.get(part.get("by", ""), "width")
        steps.append(fit_buckets(by, values, part.get("count", 0), part.get("edges")))
    return steps


def apply_steps(steps: list[State], x: Number) -> Any:
    for s in steps:
        if "clip" in s:
            x = apply_clip(s, x)
        elif "fill" in s:
            x = apply_impute(s, x)
        elif "scale" in s:
            x = apply_scale(s, x)
        else:
            return apply_buckets(s, x)
    return x


def apply_part(part: dict[str, Any], state: State, x: Any, dtype: str) -> list[float]:
    """The numbers of a row, before they are rounded to the dtype."""
    encode = part.get("encode", "")
    if part.get("unknown") == "error":
        have = part["order"] if encode == "ordinal" else state["texts"] + state["rare"]  # a rare text is one of the fit
        if any(t not in have for t in (tags_of(part, x) if encode == "multi-hot" else [x] if x else [])):
            raise Refused("found a text that the fit does not have")
    if encode == "code":
        return [apply_code(state, x or None) if x else 0]
    if encode == "one-hot":
        return apply_one_hot(state, x or None)
    if encode == "multi-hot":
        out = [0.0] * (len(state["texts"]) + 1)
        for t in tags_of(part, x):
            out[state["texts"].index(t) if t in state["texts"] else -1] = 1.0
        return out
    if encode == "hash":
        return apply_hash(x, part["hash"]["dim"], "characters" if part["hash"].get("characters") else "words", part["hash"]["least"], part["hash"]["most"], not part["hash"].get("unsigned"))  # fmt: skip
    before = part_numbers(part, state, x)
    if encode == "ordinal" and part["as_code"]:
        return [before[0] or 0]
    if encode == "buckets":
        steps = state["numbers"][0]
        bucket = apply_steps(steps, before[0])
        if part["as_code"]:
            return [0 if bucket is None else bucket + 1]
        one = [0.0] * (len(steps[-1]["edges"]) + 2)
        one[-1 if bucket is None else bucket] = 1.0
        return one
    flag = any(missing(v) for v in before)
    if any(not missing(v) and math.isinf(apply_steps(steps[: bool(part.get("clip"))], v)) for steps, v in zip(state["numbers"], before)):
        raise Refused("found an infinity")
    after = [apply_steps(steps, v) for steps, v in zip(state["numbers"], before)]
    if any(missing(v) for v in after):
        raise Refused("found no value")
    if any(math.isinf(v) for v in after):
        raise Refused("found a result that is infinite")
    if part.get("whole") and not encode and not part.get("scale") and any(y == x and not has(dtype, y) for x, y in zip(before, after)):
        raise Refused("found a whole number that the dtype rounds")  # a fill or a bound of clip is no number of the column, and is rounded
    return [float(v) for v in after] + [float(flag)] * bool(part.get("flag"))


# Features of few bits: the store has a code per number, and a batch has the number that the code stands for.

BEYOND = {"float32": 2.0**128 - 2.0**103, "float16": 65520.0, "bfloat16": 2.0**128 - 2.0**119}  # what a dtype rounds to an infinity, and all above it


BITS = {"float32": 24, "float16": 11, "bfloat16": 8}  # of a significand


def has(dtype: str, x: float) -> bool:
    """Whether a dtype has a whole number without rounding."""
    n = abs(int(x))
    return not n or ((n // (n & -n)).bit_length() <= BITS[dtype] and not beyond(x, dtype))


def beyond(x: float, dtype: str) -> bool:
    return abs(x) >= BEYOND[dtype]


def indicators(part: dict[str, Any], width: int) -> list[bool]:
    """Which numbers of a part are 0 or 1 by definition."""
    if part.get("encode") in ("one-hot", "multi-hot", "buckets"):
        return [True] * width
    return [False] * (width - 1) + [bool(part.get("flag"))]


def fit_ranges(rows: list[list[float]], indicator: list[bool], dtype: str) -> list[list[float]]:
    """The least and the greatest result of each position in the rows of the fit, after its norm; 0 and 1 of an indicator, also under a norm. A zero has no sign."""
    out = []
    for k, is_ in enumerate(indicator):
        if not is_ and not rows:
            raise Refused("found no row in the fit")
        low, high = (0.0, 1.0) if is_ else (min(r[k] for r in rows) + 0.0, max(r[k] for r in rows) + 0.0)
        if beyond(low, dtype) or beyond(high, dtype):
            raise Refused("found a result beyond the dtype")
        out.append([low, high])
    return out


def low_bit_code(bits: int, low: float, high: float, x: float) -> tuple[int, bool]:
    """The code of a number, and whether the number is cut to a bound first."""
    y = min(max(x, low), high)
    return (0 if low == high else round((y - low) / (high - low) * (2**bits - 1))), y != x


def low_bit_number(bits: int, low: float, high: float, code: int) -> float:
    """The number of a code: the last code gives the greatest number itself, others are steps from the least one. Each operation is rounded to float64, and the result once
    to the dtype of the feature."""
    top = 2**bits - 1
    return high if code == top else low + code * ((high - low) / top)


def low_bit_bytes(bits: int, codes: list[int]) -> bytes:
    """The codes of a row of a piece: a byte each, or two in a byte, the first in the low half."""
    if bits == 8:
        return bytes(codes)
    codes = codes + [0] * (len(codes) % 2)
    return bytes(a | b << 4 for a, b in zip(codes[::2], codes[1::2]))


WIDE = 32  # numbers of one-hot and multi-hot above which they are a piece of their own, which has no codes of few bits


def of_few_bits(part: dict[str, Any], width: int, norm: str) -> bool:
    return bool(norm) or part.get("encode") not in ("one-hot", "multi-hot") or width <= WIDE


def feature(spec: dict[str, Any], columns: dict[str, list[Any]], fit: list[bool]) -> dict[str, Any]:
    """A feature of all rows: its numbers in float64 before they are rounded to its dtype. With bits, also the ranges, how many numbers are cut and the row of the first, and
    the bytes of the pieces of few bits, row by row."""
    parts, bits, norm = spec["parts"], spec.get("bits", 0), spec.get("norm", "")
    states = [fit_part(p, columns[p["from"]], fit) for p in parts]
    by_part = [[apply_part(p, s, columns[p["from"]][i], spec["dtype"]) for p, s in zip(parts, states)] for i in range(len(fit))]
    rows = [[v for of in row for v in of] for row in by_part]
    if norm:
        rows = norms(rows, norm)
    if spec["dtype"] != "int32" and not bits and any(beyond(v, spec["dtype"]) for row in rows for v in row):
        raise Refused("found a result beyond the dtype")
    if not bits:
        return {"rows": rows}
    widths = [part_width(p, s) for p, s in zip(parts, states)]
    few = [of_few_bits(p, w, norm) for p, w in zip(parts, widths) for _ in range(w)]
    indicator = [is_ for p, w in zip(parts, widths) for is_ in indicators(p, w)]
    ranges = fit_ranges([r for r, is_ in zip(rows, fit) if is_], [a or not b for a, b in zip(indicator, few)], spec["dtype"])
    codes = [[low_bit_code(bits, *ranges[k], x) for k, x in enumerate(row)] for row in rows]
    numbers = [[low_bit_number(bits, *ranges[k], codes[i][k][0]) if few[k] else row[k] for k in range(len(row))] for i, row in enumerate(rows)]
    cut = [i for i, row in enumerate(codes) for k, (_, is_) in enumerate(row) if is_ and few[k]]
    stored = [b"".join(low_bit_bytes(bits, [row[k][0] for k in piece]) for piece in pieces(few)).hex() for row in codes]
    return {"rows": numbers, "ranges": [r for r, is_ in zip(ranges, few) if is_], "cut": len(cut), "first": cut[0] if cut else 0, "stored": stored}


def pieces(few: list[bool]) -> list[list[int]]:
    """The positions of each piece of few bits: those of parts side by side."""
    return [[k for k, _ in of] for is_, of in itertools.groupby(enumerate(few), lambda x: x[1]) if is_]


def part_width(part: dict[str, Any], state: State) -> int:
    """How many numbers a row of a part has."""
    encode = part.get("encode", "")
    if encode in ("one-hot", "multi-hot"):
        return len(state["texts"]) + (2 if encode == "one-hot" else 1)
    if encode == "hash":
        return int(part["hash"]["dim"])
    if encode == "buckets":
        return len(state["numbers"][0][-1]["edges"]) + 2
    return len(state["numbers"]) + bool(part.get("flag"))
