"""Columns as columns of data frames and tables of pandas, polars and Arrow, and back. Each is imported by the functions that need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable, cast

import numpy as np

from .._arrays import Array, module
from .._folder import NO_TIME, Column
from .columns import MISSING, column, filled, strings, times


def fields(table: Any, what: str, spool: Callable[[Any], list[tuple[str, list[Column]]] | None] = lambda _: None) -> dict[str, Column]:
    """The columns of a table. A column with missing values is followed by the column that says where.

    Args:
        table: the table.
        what: what errors say the table is.
        spool: the columns of a table that comes in batches, None for another object.
    """
    kind = module(table)
    if kind == "polars":
        frame = table.collect() if hasattr(table, "collect") else table
        found = [(n, _polars(n, frame.get_column(n), what)) for n in frame.columns]
    elif kind == "pandas" and hasattr(table, "columns"):
        frame = table.reset_index() if any(n is not None for n in table.index.names) else table
        found = [(str(n), _pandas(str(n), frame[n], what)) for n in frame.columns]
    elif isinstance(table, Mapping):
        found = [(str(n), _values(str(n), x, what)) for n, x in table.items()]
    elif kind == "pyarrow" and type(table).__name__ in ("Table", "RecordBatch"):
        found = [(n, arrow_column(n, table.column(i), what)) for i, n in enumerate(table.schema.names)]
    elif (streamed := spool(table)) is not None:
        found = streamed
    elif hasattr(table, "__arrow_c_stream__"):
        import pyarrow

        arrow = pyarrow.table(table)
        found = [(n, arrow_column(n, arrow.column(i), what)) for i, n in enumerate(arrow.schema.names)]
    else:
        raise TypeError(f"{what}: found {type(table).__name__}, expected a table of pandas, polars or Arrow, or a mapping from names to arrays")
    out: dict[str, Column] = {}
    for _name, some in found:
        for c in some:
            if c.name in out:
                raise ValueError(f"{what}: found the column {c.name!r} twice, expected it once; rename one of the two")
            out[c.name] = c
    return out


def _values(name: str, x: Any, what: str) -> list[Column]:
    if module(x) == "polars":
        return _polars(name, x, what)
    if module(x) == "pandas":
        import pandas

        return _pandas(name, pandas.Series(x), what)
    if module(x) == "pyarrow":
        return arrow_column(name, x, what)
    if isinstance(x, np.ndarray) and x.dtype.kind == "M":
        return [times(name, x)]
    if isinstance(x, np.ndarray) and x.dtype.kind == "O" and x.ndim == 1:
        x = x.tolist()
    return filled(name, list(x), what) if isinstance(x, (list, tuple)) else [column(name, x, what)]


def _flagged(c: Column, missing: Array | None) -> list[Column]:
    if missing is None or not missing.any():
        return [c]
    return [c, Column(c.name + MISSING, "bool", (), len(c), np.ascontiguousarray(missing), (), None)]


def categories(name: str, codes: Array, texts: Sequence[Any], what: str) -> list[Column]:
    """Categories by their codes, in which -1 is a missing one."""
    if not all(isinstance(s, str) for s in texts):
        return filled(name, [None if k < 0 else texts[k] for k in codes.tolist()], what)
    return [Column(name, "int32", (), len(codes), codes.astype(np.int32), (), None, None, strings(name, list(texts)))]


def _pandas(name: str, s: Any, what: str) -> list[Column]:
    import pandas

    d = s.dtype
    if isinstance(d, pandas.CategoricalDtype):
        return categories(name, np.asarray(s.cat.codes, np.int64), d.categories.tolist(), what)
    if hasattr(pandas, "ArrowDtype") and isinstance(d, pandas.ArrowDtype):
        return arrow_column(name, s.array.__arrow_array__(), what)
    if isinstance(d, pandas.DatetimeTZDtype):
        return [times(name, s.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())]
    if isinstance(d, np.dtype) and d.kind == "M":
        return [times(name, s.to_numpy())]
    if isinstance(d, np.dtype) and d.kind != "O":
        return [column(name, s.to_numpy(), what)]
    missing = s.isna().to_numpy()
    inner = getattr(d, "numpy_dtype", None)
    if inner is not None and inner.kind in "biuf":
        return _flagged(column(name, s.to_numpy(inner, na_value=np.nan if inner.kind == "f" else inner.type(0)), what), missing)
    return filled(name, [None if gone else v for v, gone in zip(s.tolist(), missing.tolist())], what)


def _polars(name: str, s: Any, what: str) -> list[Column]:
    import polars

    d, missing = s.dtype, s.is_null().to_numpy() if s.null_count() else None
    if d in (polars.Categorical, polars.Enum):
        kept = d.categories.to_list() if d == polars.Enum else s.drop_nulls().unique(maintain_order=True).cast(polars.String).to_list()
        code = {t: i for i, t in enumerate(kept)}
        return categories(name, np.fromiter((-1 if v is None else code[v] for v in s.to_list()), np.int64, len(s)), kept, what)
    if d == polars.Datetime:
        return [Column(name, "int64", (), len(s), s.to_physical().fill_null(int(NO_TIME)).to_numpy(), (), None, d.time_unit)]
    if d == polars.Date:
        return [Column(name, "int64", (), len(s), (s.to_physical().cast(polars.Int64) * 86400).fill_null(int(NO_TIME)).to_numpy(), (), None, "s")]
    if d == polars.String:
        return _flagged(strings(name, s.fill_null("").to_list()), missing)
    if d == polars.Boolean:
        return _flagged(column(name, s.fill_null(False).to_numpy(), what), missing)
    if d.is_numeric() and not d.is_decimal():
        return _flagged(column(name, s.fill_null(float("nan") if d.is_float() else 0).to_numpy(), what), missing)
    if missing is None and isinstance(d, (polars.List, polars.Array)) and d.inner is not None and d.inner.is_numeric() and not d.inner.is_decimal():
        lengths = (s.list.len() if isinstance(d, polars.List) else s.arr.len()).to_numpy().astype(np.int64)
        flat = s.filter(polars.Series(lengths > 0)).explode()  # an empty list would be a missing value
        if not flat.null_count():
            return [_listed(name, flat.to_numpy(), lengths, what)]
    return filled(name, s.to_list(), what)


def _listed(name: str, flat: Array, lengths: Array, what: str) -> Column:
    """Lists by their values and lengths: vectors if all have one length."""
    if len(lengths) and lengths[0] and (lengths == lengths[0]).all():
        return column(name, flat.reshape(len(lengths), -1), what)
    return Column(name, flat.dtype.name, (-1,), len(lengths), flat, (np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),), None)


def arrow_column(name: str, x: Any, what: str) -> list[Column]:
    """A column of Arrow, with its buffers where these have the form of a store's columns."""
    import pyarrow

    is_ = pyarrow.types
    if isinstance(x, pyarrow.ChunkedArray):
        x = x.unify_dictionaries().combine_chunks() if is_.is_dictionary(x.type) else x.combine_chunks()
    if isinstance(x, pyarrow.ChunkedArray):  # none or several chunks remain of some types
        x = pyarrow.concat_arrays(x.chunks) if x.num_chunks else pyarrow.array([], x.type)
    if isinstance(x, pyarrow.ExtensionArray):
        x = x.storage
    d, missing = x.type, np.asarray(x.is_null()) if x.null_count else None
    if is_.is_null(d):
        return filled(name, [None] * len(x), what)
    if is_.is_dictionary(d):
        return categories(name, x.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), x.dictionary.to_pylist(), what)
    if is_.is_timestamp(d) or is_.is_date(d):
        unit, scale = (d.unit, 1) if is_.is_timestamp(d) else ("s", 86400) if is_.is_date32(d) else ("ms", 1)
        raw = x.cast(pyarrow.int32()).cast(pyarrow.int64()) if is_.is_date32(d) else x.cast(pyarrow.int64())
        values = raw.fill_null(0).to_numpy(zero_copy_only=False) * scale
        if missing is not None:
            values[missing] = NO_TIME
        return [Column(name, "int64", (), len(x), values, (), None, unit)]
    if is_.is_boolean(d):
        return _flagged(column(name, x.fill_null(False).to_numpy(zero_copy_only=False), what), missing)
    if is_.is_integer(d) or is_.is_floating(d):
        if missing is not None:
            x = x.fill_null(pyarrow.scalar(np.nan if is_.is_floating(d) else 0).cast(d))
        return _flagged(column(name, x.to_numpy(zero_copy_only=False), what), missing)
    if d in (pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary()) or str(d).endswith("_view"):
        if missing is not None:
            x = x.fill_null("" if "str" in str(d) else b"")
        x = x.cast(pyarrow.large_binary() if "binary" in str(d) else pyarrow.large_string())
        _, offsets, data = x.buffers()
        at = np.frombuffer(offsets, np.int64)[x.offset : x.offset + len(x) + 1] if len(x) else np.zeros(1, np.int64)
        values = np.frombuffer(data, np.uint8)[at[0] : at[-1]] if data is not None else np.zeros(0, np.uint8)
        return _flagged(Column(name, "string", (), len(x), values, (), at - at[0]), missing)
    if missing is None and is_.is_fixed_size_list(d) and d.value_type != pyarrow.bool_() and is_.is_primitive(d.value_type) and not x.flatten().null_count:
        return [column(name, x.flatten().to_numpy(zero_copy_only=False).reshape(len(x), d.list_size), what)]
    if (
        missing is None
        and (is_.is_list(d) or is_.is_large_list(d))
        and (is_.is_integer(d.value_type) or is_.is_floating(d.value_type))
        and not x.flatten().null_count
    ):
        return [_listed(name, x.flatten().to_numpy(zero_copy_only=False), np.diff(x.offsets.to_numpy().astype(np.int64)), what)]
    return filled(name, x.to_pylist(), what)


def to_arrow(of: Mapping[str, Column]) -> Any:
    import pyarrow

    gone = _missing(of)
    out = {}
    for name, c in of.items():
        if name.removesuffix(MISSING) in gone and name.endswith(MISSING):
            continue
        mask = gone.get(name)
        if c.categories is not None:
            x = pyarrow.DictionaryArray.from_arrays(pyarrow.array(c.values, mask=c.values < 0), c.categories.tolist())
        elif c.unit is not None:
            x = pyarrow.array(c.values, pyarrow.int64(), mask=c.values == NO_TIME).cast(pyarrow.timestamp(c.unit))
        elif c.dtype == "string" and not c.shape:
            assert c.string_offsets is not None
            valid = None if mask is None else pyarrow.array(~mask).buffers()[1]
            at = pyarrow.py_buffer(np.ascontiguousarray(c.string_offsets, np.int64))
            x = pyarrow.LargeStringArray.from_buffers(len(c), at, pyarrow.py_buffer(np.ascontiguousarray(c.values)), valid)
        elif c.plain and not c.shape:
            x = pyarrow.array(c.values, mask=mask)
        elif c.plain and len(c.shape) == 1 and mask is None and c.dtype != "bool":
            x = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(np.ascontiguousarray(c.values).ravel()), c.shape[0])
        else:
            kind = pyarrow.large_string() if c.dtype == "string" else pyarrow.from_numpy_dtype(np.asarray(widest(c)).dtype)
            for _ in c.shape:
                kind = pyarrow.list_(kind)
            x = pyarrow.array([None if mask is not None and mask[i] else v for i, v in enumerate(_lists(c))], kind)
        out[name] = x
    return pyarrow.table(out)


def to_polars(of: Mapping[str, Column]) -> Any:
    import polars

    gone = _missing(of)
    out = []
    for name, c in of.items():
        if name.removesuffix(MISSING) in gone and name.endswith(MISSING):
            continue
        mask = gone.get(name)
        if c.categories is not None:
            texts = c.categories.tolist()
            s = polars.Series(name, [None if k < 0 else texts[k] for k in c.values.tolist()], polars.Enum(texts))
        elif c.unit is not None:
            s = polars.Series(name, c.values, polars.Int64)
            s = s.set(s == int(NO_TIME), None)
            s = s.cast(polars.Datetime(cast(Any, c.unit))) if c.unit != "s" else (s * 1000).cast(polars.Datetime("ms"))
        elif c.plain and len(c.shape) <= 1 and c.dtype != "float16":
            s = polars.Series(name, np.ascontiguousarray(c.values))
        else:
            s = polars.Series(name, _lists(c), strict=False) if len(c) else polars.Series(name, [], polars.String if c.dtype == "string" else None)
        if mask is not None:
            s = polars.select(polars.when(polars.Series(~mask)).then(s).alias(name)).to_series()
        out.append(s)
    return polars.DataFrame(out)


def to_pandas(of: Mapping[str, Column]) -> Any:
    import pandas

    gone = _missing(of)
    out = {}
    for name, c in of.items():
        if name.removesuffix(MISSING) in gone and name.endswith(MISSING):
            continue
        mask = gone.get(name)
        if c.categories is not None:
            out[name] = pandas.Series(pandas.Categorical.from_codes(c.values, c.categories.tolist()))
        elif c.unit is not None:
            out[name] = pandas.Series(c.values.view(f"datetime64[{c.unit}]"))
        elif c.plain and not c.shape:
            s = pandas.Series(c.values)
            if mask is not None:
                s = (
                    s.mask(mask)
                    if c.values.dtype.kind == "f"
                    else s.astype({"b": "boolean"}.get(c.values.dtype.kind, c.values.dtype.name.capitalize().replace("Ui", "UI"))).mask(mask)
                )
            out[name] = s
        else:
            rows = list(c.values) if c.plain else c.tolist() if not c.fixed else list(np.asarray(c))
            out[name] = pandas.Series([None if mask is not None and mask[i] else v for i, v in enumerate(rows)], dtype=object)
    return pandas.DataFrame(out)


def _missing(of: Mapping[str, Column]) -> dict[str, Array]:
    """For each column with missing values, where they are; of the columns that say so."""
    return {n: of[n + MISSING].values for n in of if n + MISSING in of and of[n + MISSING].dtype == "bool"}


def _lists(c: Column) -> list[Any]:
    return [v.tolist() if isinstance(v, np.ndarray) else v for v in (c.tolist() if not c.fixed else list(np.asarray(c)))]


def widest(c: Column) -> Array:
    """No values, of the dtype that the values have in Python."""
    return np.empty(0, np.float32 if c.dtype == "bfloat16" else c.values.dtype)
