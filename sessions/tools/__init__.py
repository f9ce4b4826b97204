"""Toolsets: what an agent's model may call.

Lives here: how a tool is made from a Python function (`base`, `signatures`), which tools an agent has (`registry`),
what a call's arguments and a person's answer must look like (`arguments`, `answers`, `schemas`), and the built-in
toolsets (`system`, `workspace`).
May not: know the engine, the models or any row. A tool's body has its `ToolContext` and nothing else of the runtime.
Invariants: a schema, a name or an argument that a model made up ends in a result the model can read, never in an
exception that leaves this package.
"""
