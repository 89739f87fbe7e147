"""`python -m lab` is the command `lab`."""

from lab.cli import main

raise SystemExit(main())
