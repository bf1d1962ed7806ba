"""Entry point of ``python -m formalsynth.cli``, the same as ``formalsynth``."""

from formalsynth.cli.main import main

raise SystemExit(main())
