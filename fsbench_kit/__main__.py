"""Where ``fsbench`` begins: Ctrl-C ends it plainly until there is a command that says what is kept."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the commands, which takes a moment, and run one."""
    try:
        from fsbench_kit.cli import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
