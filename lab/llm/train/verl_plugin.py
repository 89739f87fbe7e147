"""The module that verl's entry point loads: importing it registers the lab in verl."""

from lab.llm.train.verl_adapter import register

register()
