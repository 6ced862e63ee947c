"""The machine: its processors, its event loop and the processes that passband starts."""
