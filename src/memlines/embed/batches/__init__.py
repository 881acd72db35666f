"""The batch APIs of embedding services: a file of texts is uploaded, its vectors are fetched hours later.

`base` has what all services share, `services` has one class for each of them, `results` reads their answers.
When to use a batch, and what to keep for the next process, is decided by `index/sync`.
"""
