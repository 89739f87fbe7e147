"""The settings of every experiment: one typed class per experiment, each setting written once.

`settings.py` says what a setting and a configuration are. The other files hold the classes, one
file per family of experiments. Their values, by scale, are in lab/presets.
"""

from lab.configurations.settings import Config as Config
from lab.configurations.settings import Setting as Setting
from lab.configurations.settings import setting as setting
