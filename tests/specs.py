"""Every estimator once, with the options that it needs, and some with further options."""

import lab

NEEDS = {
    "f_grpo": "gamma=0.5",
    "truncated": "order=3",
    "alpha": "alpha=0.5",
    "pkpo": "k=2",
    "pass_at_k_group": "k=2",
    "entropic": "eta=1.0",
    "formula": "text='exp(-5*p)'",
    "drawn": "p=[0.0, 0.5, 1.0], w=[3.0, 1.0, 0.5]",
}
WITH_OPTIONS = [
    "grpo(ddof=1, eps=1e-06)",
    "truncated(order=2, form='loo')",
    "pacs_anchor(beta=2.0, balanced=False)",
    "pacs_anchor(score='dr_grpo')",
    "w_reinforce(lam=0.5)",
    "alpha(alpha=1.5)",
]
SPECS = [
    f"{name}({NEEDS[name]})" if name in NEEDS else name for name in lab.estimator_names()
] + WITH_OPTIONS
