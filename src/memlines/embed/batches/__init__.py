"""The batch APIs of embedding services: a file of texts is uploaded, its vectors are fetched hours later.

`base` has what all services share and reads their answers, `services` has one class for each of them. When
to use a batch, and what to keep for the next process, is decided by `index/sync`.
"""
