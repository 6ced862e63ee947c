"""`python -m passband` is the `passband` command.

Python puts the working folder first on the import path of a module that it runs by name. What this
module can still do is to take it off again before anything else is imported; what Python itself
imports to get here, and a folder `passband` next to you, it cannot help. The command `passband`
never looks into the working folder.
"""

import os
import sys

if __name__ == "__main__":
    try:
        working_folder = os.getcwd()
    except FileNotFoundError:  # it was deleted
        working_folder = ""
    if sys.path and sys.path[0] in ("", working_folder):
        del sys.path[0]

    from passband.cli import main

    main()
