"""How text becomes vectors or scores: the providers, their batches, rerankers, and what they cost.

`select.choose` names the provider, `base.embed_query` and `base.embed_documents` call it; `rerank` scores
texts by a query, and nothing of it is imported unless the settings name a reranker. Importing this
package, choosing a provider and asking for its name and size load neither numpy nor a model; only embedding
does. Where vectors are kept is no concern of this package.
"""
