"""``python -m obsidian_import``."""

from obsidian_import.cli import main

if __name__ == "__main__":
    main()
