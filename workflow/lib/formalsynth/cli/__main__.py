"""``python -m formalsynth.cli`` is ``formalsynth``."""

from formalsynth.cli.main import main

raise SystemExit(main())
