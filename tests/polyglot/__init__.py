"""The shared scenarios: their runner, and the driver that runs them in every language."""
