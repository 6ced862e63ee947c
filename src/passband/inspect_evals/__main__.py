"""`python -m passband.inspect_evals` runs tasks and prints pass@k with its bootstrap error."""

from passband.inspect_evals.run_bootstrapped_inspect_evals import main

if __name__ == "__main__":
    main()
