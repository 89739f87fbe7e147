"""The rollouts of our own trainings: one parquet file a step, in the run's folder `rollouts`."""

FOLDER = "rollouts"
