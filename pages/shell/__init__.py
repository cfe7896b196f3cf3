"""What stands around the pages: who may ask, what a browser may do with an answer, and what a log may say."""
