"""The provider `local`: a model of the user's own, in a GGUF file, run by llama.cpp in this process.

`header` checks the file, `engine` runs the model, and `provider` is what the rest of Memlines sees. llama.cpp
is loaded at the first text, and tried in a process of its own before that.
"""
