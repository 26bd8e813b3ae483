"""The memory that a stream of a million short lines needs above the loaded model, at its peak."""

from __future__ import annotations

from sidebyside import finish, forget_peak, peak_megabytes

from sbert import BiEncoder

LINES = 1_000_000


def main() -> None:
    model = BiEncoder.from_pretrained()
    model.encode(["one text, so that everything is loaded"])
    forget_peak()  # loading has one of its own, below which the stream's would not show
    before = peak_megabytes()
    rows = 0
    for _, vectors in model.encode_stream(str(number % 100) for number in range(LINES)):
        rows += len(vectors)
    assert rows == LINES
    finish("stream", {"stream_megabytes": (peak_megabytes() - before, 200.0)}, {"lines": LINES, "loaded": before})


if __name__ == "__main__":
    main()
