"""Changes that damage a model folder or make it hostile, each drawn from a random generator."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEEP: Any = 0
for _ in range(300):
    DEEP = [DEEP]
VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 7, 10**4, 10**9, 10**18, -(10**18), 10**400, 2**31, 2**32, 2**63),
    *(0.5, -0.5, 1e-300, 1e308, float("nan"), float("inf"), "", "x", "x" * 5_000, "../..", "/etc/passwd", "a\0b"),
    *("someone/kernel", "\x1b[31mred", "한국어", "\ud800", [], {}, [[]], [1], ["mean"], [None], {"a": 1}, DEEP),
    *(
        "gelu",
        "gelu_new",
        "silu",
        "bert",
        "t5",
        "detr",
        "cls",
        "torch.nn.Tanh",
        "CrossEncoder",
        "mean",
        "separate",
        "first",
    ),
]
KEYS = [
    *(
        "attn_implementation",
        "_attn_implementation",
        "auto_map",
        "quantization_config",
        "per_layer_config",
        "backbone",
    ),
    *("use_pretrained_backbone", "backbone_config", "trust_remote_code", "tokenizer_class", "is_decoder", "dtype"),
    *("torch_dtype", "sub_configs", "text_config", "rope_scaling", "rope_parameters", "layer_types", "num_labels"),
    *("chunk_size_feed_forward", "architectures", "model_type", "prompts", "truncate_dim", "pad_token_id"),
    *("embedding_size", "num_hidden_layers", "num_hidden_groups", "inner_group_num", "hidden_act"),
]
PATTERNS = ["", "a*", "^", "(?=a)", "(", "(.*)*(.*)*x", ".", "\\b", "[", "a{1000000}", "(?<=a)b"]
IDS = [0, 2, 99, 10**6, 2**31, 2**32 - 1, 2**40, -1]


def mutate(folder: Path, sound: Path, chance: random.Random) -> str:
    """Copy one of the sound folders to ``folder`` with one to three changes; returns their names."""
    source = chance.choice(sorted(sound.iterdir()))
    shutil.copytree(source, folder)
    names = [source.name]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        change = chance.choice(CHANGES)
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
        try:
            names.append(f"{change.__name__} {change(folder, files, chance)}")
        except (
            OSError,
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
        ):  # a second change of what the first one broke
            names.append(f"{change.__name__} (impossible)")
    return ", ".join(names)


def change_bytes(_folder: Path, files: list[Path], chance: random.Random) -> str:
    """Change, remove, add or cut off bytes."""
    path = chance.choice(files)
    content = bytearray(path.read_bytes())
    place = (
        chance.randrange(min(len(content), 2_000) + 1) if chance.random() < 0.5 else chance.randrange(len(content) + 1)
    )
    length = chance.choice([1, 1, 8, 500])
    how = chance.choice(["cut", "zero", "noise", "remove", "repeat"])
    if how == "cut":
        del content[place:]
    elif how == "remove":
        del content[place : place + length]
    elif how == "repeat":
        content[place:place] = content[place : place + length]
    else:
        content[place : place + length] = bytes(length) if how == "zero" else chance.randbytes(length)
    path.write_bytes(bytes(content))
    return f"{path.name} {how} {place}"


def change_json(_folder: Path, files: list[Path], chance: random.Random) -> str:
    """Give one place in a JSON file another value, remove it, or rename it."""
    path = chance.choice([path for path in files if path.suffix == ".json"])
    whole = json.loads(path.read_text(encoding="utf-8"))
    places = [place for place in walk(whole) if "vocab" not in place[:-1] and "vectors" not in place[:-1]]
    *way, last = chance.choice(places or [[None]])
    holder = whole
    for step in way:
        holder = holder[step]
    value = chance.choice(VALUES)
    how = chance.choice(["value", "value", "value", "list", "text", "remove", "rename"])
    if last is None:
        whole = value
    elif how == "remove":
        del holder[last]
    elif how == "rename" and isinstance(holder, dict):
        holder[chance.choice(KEYS)] = holder.pop(last)
    else:
        holder[last] = {"list": [holder[last]], "text": str(holder[last])}.get(how, value)
    path.write_text(json.dumps(whole), encoding="utf-8", errors="surrogatepass")
    return f"{path.name} {[*way, last]} {how} {str(value)[:30]!r}"


def walk(value: Any) -> Iterator[list[Any]]:
    """Yield the way to every place in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield [key]
        yield from ([key, *way] for way in walk(part))


def add_key(_folder: Path, files: list[Path], chance: random.Random) -> str:
    """Add a key that asks for something."""
    path = chance.choice([path for path in files if path.suffix == ".json" and "config" in path.name])
    key, value = chance.choice(KEYS), chance.choice(VALUES)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: value}), encoding="utf-8")
    return f"{path.name} {key} {str(value)[:30]!r}"


def change_file(folder: Path, files: list[Path], chance: random.Random) -> str:
    """Remove a file, make it a folder, exchange it with another one, or fill it with something else."""
    path, other = chance.choice(files), chance.choice(files)
    how = chance.choice(["remove", "folder", "exchange", "nested", "empty", "adapter"])
    if how == "exchange":
        content = path.read_bytes()
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)
    elif how == "adapter":
        (folder / "adapter_config.json").write_text("{}")
    elif how in ("nested", "empty"):
        path.write_bytes(b'{"a":[' * 50_000 if how == "nested" else b"")
    else:
        path.unlink()
        if how == "folder":
            path.mkdir()
    return f"{path.name} {how} {other.name}"


def change_tokenizer(folder: Path, _files: list[Path], chance: random.Random) -> str:
    """Replace one component of the tokenizer."""
    path = folder / "tokenizer.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    pattern = {chance.choice(["Regex", "String"]): chance.choice(PATTERNS)}
    text, number, token = chance.choice(["", "x", "x" * 200]), chance.choice(IDS), ["[CLS]", chance.choice(IDS)]
    replace = {"type": "Replace", "pattern": pattern, "content": text}
    table = {
        "type": "Precompiled",
        "precompiled_charsmap": chance.choice(["AAAA", "", "/////w==", "BAAAAAAAAAA=", "!"]),
    }
    fixed = {"strategy": {"Fixed": number}, "direction": "Right", "pad_to_multiple_of": chance.choice([None, 0, 8])}
    template = [
        {"SpecialToken": {"id": "[CLS]", "type_id": chance.choice([0, 9])}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    special: dict[str, Any] = {"[CLS]": {"id": "[CLS]", "ids": [number], "tokens": ["[CLS]"]}}
    processor = {"type": "TemplateProcessing", "single": template, "pair": template[:1], "special_tokens": special}
    key, value = chance.choice(
        [
            ("normalizer", replace),
            ("normalizer", {"type": "Sequence", "normalizers": [replace, table, replace]}),
            ("normalizer", {"type": "Sequence", "normalizers": [replace] * 6}),
            ("normalizer", table),
            ("pre_tokenizer", {"type": "FixedLength", "length": number}),
            ("pre_tokenizer", {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": True}),
            ("pre_tokenizer", {"type": "Metaspace", "replacement": text, "prepend_scheme": "first"}),
            ("pre_tokenizer", None),
            ("post_processor", {"type": "BertProcessing", "sep": token, "cls": token}),
            ("post_processor", processor),
            ("padding", {**fixed, "pad_id": number, "pad_type_id": 0, "pad_token": text}),
            ("truncation", {"direction": "Left", "max_length": number, "strategy": "OnlySecond", "stride": number}),
            ("model", {**whole["model"], "unk_token": text, "unk_id": number}),
            ("model", {**whole["model"], "type": chance.choice(["BPE", "Unigram", "WordLevel", "WordPiece"])}),
            ("model", {**whole["model"], "vocab": {"a": number}, "dropout": chance.choice([-1, 0.5, 2])}),
            ("added_tokens", [{**whole["added_tokens"][0], "id": number, "content": text}]),
        ]
    )  # fmt: skip
    path.write_text(json.dumps({**whole, key: value}), encoding="utf-8")
    return f"{key} {str(value)[:60]}"


def change_index(folder: Path, files: list[Path], chance: random.Random) -> str:
    """Replace the weights by an index that lists other files."""
    place = chance.choice(
        ["../m.safetensors", "/etc/passwd", "C:\\a.safetensors", "w.bin", "w.safetensors", "", 3, [], "a\0"]
    )
    weights = folder / "model.safetensors"
    if weights.is_file():
        weights.rename(folder / "w.safetensors")
    whole = chance.choice([{"weight_map": {"a": place}}, {"weight_map": place}, {}, place])
    (folder / "model.safetensors.index.json").write_text(json.dumps(whole))
    return str(whole)


def change_header(_folder: Path, files: list[Path], chance: random.Random) -> str:
    """Give a tensor another shape, type or place in the header of a safetensors file."""
    path = chance.choice([path for path in files if path.suffix == ".safetensors"])
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    name = chance.choice(sorted(header))
    key = chance.choice(["shape", "dtype", "data_offsets", "name"])
    value = chance.choice(
        [[], [0], [10**18], [1, 1], [-1], "F16", "BOOL", "I64", "F99", [0, 4], [4, 0], [0, 2**63], None]
    )
    if key == "name":
        header[chance.choice(["a", "", "x" * 3_000, "words", "\x1b[31m"])] = header.pop(name)
    else:
        header[name] = {**header[name], key: value}
    new = json.dumps(header).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + content[8 + size :])
    return f"{path.name} {name} {key} {value}"


CHANGES = [
    change_bytes,
    change_json,
    change_json,
    change_json,
    add_key,
    change_file,
    change_tokenizer,
    change_index,
    change_header,
]
