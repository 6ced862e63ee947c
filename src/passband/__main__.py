"""`python -m passband` is the `passband` command."""

from passband.cli import main

if __name__ == "__main__":
    main()
