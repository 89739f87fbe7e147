"""Weights in the hand: a page, and the same page as a widget of a notebook. Floor 3.

`page.py` writes the page that stands alone, `widget.py` holds the widget, `answers.py` what the
widget asks of the lab. The front end is in `front/`; `npm run build` there makes `explorer.js`,
which is committed: nobody needs npm to use it.
"""

from lab.explorer.widget import Explorer as Explorer
