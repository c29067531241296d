"""Writes the generated parts of the manual: ``python -m docs.generator``."""

from docs.generator import DOCS, made

if __name__ == "__main__":
    pages = made()
    for path in {*(DOCS / "formats").glob("*.md")} - {*pages}:
        path.unlink()
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
