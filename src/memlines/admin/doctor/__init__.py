"""`memlines doctor`: check everything that can be wrong with a memory, and repair what is derived.

`examine` runs the checks and the repairs. Each other module holds the checks of one part as functions that
yield findings, with the repairs of that part beside them. Notes are never touched.
"""
