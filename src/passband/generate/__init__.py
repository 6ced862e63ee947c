"""Models: everything that turns a prompt into completions, behind one narrow protocol."""
