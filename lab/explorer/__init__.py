"""The explorer of weights w(p): a page, and the same page as a widget in a notebook.

`page.py` writes the stand-alone page, `widget.py` holds the widget, and `answers.py` computes what
the widget asks for. The front end is in `front/`; `npm run build` there makes `explorer.js`, which
is committed, so that users do not need npm.
"""

from lab.explorer.widget import Explorer as Explorer
