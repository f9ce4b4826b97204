"""The console's forms about sessions: they collect and label; what is valid, the operations say.

Invariant: no rule lives only here, because the API has no forms.
"""
