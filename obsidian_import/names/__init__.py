"""What names are: how they look in text, what they are called by, how common their words are, how a link reaches them."""
