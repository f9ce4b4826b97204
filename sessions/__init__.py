"""The runtime and the conversation: sessions, their engine, drivers, tools, models and doors."""
