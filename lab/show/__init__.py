"""What people look at: figures in the house style, reports, audits of rollouts, explanations."""
