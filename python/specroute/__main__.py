"""``python -m specroute`` is the command."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    """Becomes the command that came with the package."""
    path = os.path.join(_HERE, "bin", "specroute")
    try:
        os.execv(path, [path] + sys.argv[1:])
    except OSError as error:
        sys.exit(f"specroute: cannot start {path}: {error.strerror}; install the package again")


if __name__ == "__main__":
    main()
