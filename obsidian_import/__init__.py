"""obsidian-import: AI chats as notes in an Obsidian vault, linked, explained and reversible."""

__version__ = "0.1.0"
