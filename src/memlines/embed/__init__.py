"""How text becomes vectors: the providers, their batches, and what they cost.

`select.choose` names the provider, `base.embed_query` and `base.embed_documents` call it. Importing this
package, choosing a provider and asking for its name and size load neither numpy nor a model; only embedding
does. Where vectors are kept is no concern of this package.
"""
