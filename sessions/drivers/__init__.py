"""How a frame of each kind goes on. A driver knows the engine's `Run` and nothing of its rows."""
