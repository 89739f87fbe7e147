"""The lab: objectives for reinforcement learning from verifiable rewards, exact at finite N.

Importing it loads NumPy and nothing heavier.
"""

import lab.mathematics.catalogue  # noqa: F401  (fills the catalogue)
from lab.errors import LabError as LabError
from lab.mathematics import metrics as metrics
from lab.mathematics import stats as stats
from lab.mathematics import stopping as stopping
from lab.mathematics.design import Designed as Designed
from lab.mathematics.design import drawn_weight as drawn_weight
from lab.mathematics.design import from_weight as from_weight
from lab.mathematics.estimators import Estimator as Estimator
from lab.mathematics.estimators import Rules as Rules
from lab.mathematics.estimators import advantages as advantages
from lab.mathematics.estimators import estimator as estimator
from lab.mathematics.estimators import estimator_names as estimator_names
from lab.mathematics.estimators import register as register
from lab.mathematics.formula import formula_weight as formula_weight
from lab.mathematics.groups import Group as Group
from lab.mathematics.groups import Rollout as Rollout
from lab.mathematics.groups import binarize as binarize
from lab.mathematics.groups import make_groups as make_groups
from lab.mathematics.memories import with_memory as with_memory
from lab.mathematics.objectives import Objective as Objective
from lab.mathematics.objectives import objective as objective
from lab.mathematics.objectives import objective_names as objective_names
from lab.mathematics.real_rewards import lift as lift
from lab.mathematics.real_rewards import lifted_objective as lifted_objective
from lab.mathematics.recipes import EffectiveWeight as EffectiveWeight
from lab.mathematics.recipes import Recipe as Recipe
from lab.mathematics.recipes import effective_weight as effective_weight
from lab.mathematics.recipes import recipe as recipe
from lab.mathematics.softmax import SoftmaxPolicy as SoftmaxPolicy
from lab.mathematics.weights import SecondMoments as SecondMoments
from lab.mathematics.weights import SignalMass as SignalMass
from lab.mathematics.weights import bias as bias
from lab.mathematics.weights import efficiency as efficiency
from lab.mathematics.weights import finite_objective as finite_objective
from lab.mathematics.weights import induced_weight as induced_weight
from lab.mathematics.weights import second_moments as second_moments
from lab.mathematics.weights import signal_mass as signal_mass
from lab.mathematics.weights import signal_to_noise as signal_to_noise
