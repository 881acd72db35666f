"""`memlines doctor`: check everything that can be wrong with a memory, and repair what is derived.

`examine` runs the checks and the repairs, `findings` has what they share. Each other module holds the checks
of one part as functions that yield findings, and the repairs of that part. Notes are never touched. To add a
check, write it in the module of its part and name it in `CHECKS` of `examine`.
"""
