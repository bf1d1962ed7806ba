from formalsynth.api import (
    Posterior as Posterior,
)
from formalsynth.api import (
    censor as censor,
)
from formalsynth.api import (
    fit as fit,
)
from formalsynth.api import (
    isolation_weights as isolation_weights,
)
from formalsynth.api import (
    lipschitz_weights as lipschitz_weights,
)
from formalsynth.api import (
    load as load,
)
from formalsynth.api import (
    noisy_table as noisy_table,
)
from formalsynth.api import (
    privacy_audit as privacy_audit,
)
from formalsynth.api import (
    range_averaged as range_averaged,
)
from formalsynth.api import (
    record_bounds as record_bounds,
)
from formalsynth.api import (
    reweight as reweight,
)
from formalsynth.api import (
    simulate as simulate,
)
from formalsynth.api import (
    synthesize as synthesize,
)
from formalsynth.api import (
    utility as utility,
)

__version__: str
