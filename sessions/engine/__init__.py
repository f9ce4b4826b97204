"""The engine: what makes a session wait without a worker and go on exactly once.

Nouns: a *session* is a row; a *lease* (worker boot id and fence) is the right to advance it; a *frame* is one level of
its call stack; a *call* is one tool call with exactly one result; a *yield* is one wait; *parked state* is the frontier
a worker needs to go on; an *event* is a fact published on a key; the *journal* says what happened, without gaps.

Guarantees: each transition is one short transaction of a verb in `store` under the session's row lock; a worker's
writes carry its lease and change nothing once it lost it (`LeaseLost`); a wait has one outcome, the first one written;
a result is written once; a parked session holds nothing but rows.

Lock order: the session row first and by id alone, decide in the next statement; then yields, then calls. Event rows
are locked only in transactions that lock no session. One session per transaction.

Knows: contracts, live, models, states, errors. Not: agents' turns (drivers), tools, model adapters, any door.
"""
