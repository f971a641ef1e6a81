"""One module a family of commands: options in, a call, words out."""
