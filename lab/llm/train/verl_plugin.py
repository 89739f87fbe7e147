"""What verl's entry point loads: importing this file registers the lab there. Floor 2."""

from lab.llm.train.verl_adapter import register

register()
