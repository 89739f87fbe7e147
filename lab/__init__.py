"""The lab: objectives for reinforcement learning from verifiable rewards, exact at finite N.

Importing it loads NumPy and nothing heavier.
"""

import lab.catalogue  # noqa: F401  (fills the catalogue)
from lab import metrics as metrics
from lab import stats as stats
from lab import stopping as stopping
from lab.design import Designed as Designed
from lab.design import drawn_weight as drawn_weight
from lab.design import from_weight as from_weight
from lab.errors import LabError as LabError
from lab.estimators import Estimator as Estimator
from lab.estimators import Rules as Rules
from lab.estimators import advantages as advantages
from lab.estimators import estimator as estimator
from lab.estimators import estimator_names as estimator_names
from lab.estimators import register as register
from lab.formula import formula_weight as formula_weight
from lab.groups import Group as Group
from lab.groups import Rollout as Rollout
from lab.groups import binarize as binarize
from lab.groups import make_groups as make_groups
from lab.memories import with_memory as with_memory
from lab.objectives import Objective as Objective
from lab.objectives import objective as objective
from lab.objectives import objective_names as objective_names
from lab.real_rewards import lift as lift
from lab.real_rewards import lifted_objective as lifted_objective
from lab.recipes import EffectiveWeight as EffectiveWeight
from lab.recipes import Recipe as Recipe
from lab.recipes import effective_weight as effective_weight
from lab.recipes import recipe as recipe
from lab.weights import SecondMoments as SecondMoments
from lab.weights import SignalMass as SignalMass
from lab.weights import bias as bias
from lab.weights import efficiency as efficiency
from lab.weights import finite_objective as finite_objective
from lab.weights import induced_weight as induced_weight
from lab.weights import second_moments as second_moments
from lab.weights import signal_mass as signal_mass
from lab.weights import signal_to_noise as signal_to_noise
