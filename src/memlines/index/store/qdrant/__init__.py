"""Chunks, their words and their vectors on a Qdrant cluster that many machines share.

Notes stay files, and every machine keeps its own index of them, so writing needs no network and a search is
answered while the cluster is away. What a machine indexed is copied to the cluster, where others find it.
"""
