"""What all trainers share: records, checkpoints, device, randomness, how a run is stopped."""
