"""The settings of every experiment that trains: one typed class each, each setting written once.

`settings.py` says what a setting and a configuration are. The other files hold the classes, one
file per family of experiments. Their values, by scale, are in lab/presets, where experiments that
train nothing have their settings whole.
"""

from lab.configurations.settings import Config as Config
from lab.configurations.settings import Setting as Setting
from lab.configurations.settings import setting as setting
