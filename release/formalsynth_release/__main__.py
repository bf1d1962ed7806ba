"""Entry point of ``python -m formalsynth_release``, the same as ``formalsynth``."""

from formalsynth_release.command import main

raise SystemExit(main())
