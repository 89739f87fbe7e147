"""Pages that are one file: their style, what a browser may do with them, their pictures."""

import io
from base64 import b64encode
from html import escape

import matplotlib.pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

STYLE = """:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem;
color:light-dark(#1b1b1b,#ddd);background:light-dark(#fff,#181818)}
table{border-collapse:collapse;font-size:.85rem}
td,th{border-bottom:1px solid light-dark(#ddd,#444);padding:.2rem .7rem .2rem 0;text-align:left}
img{max-width:100%;background:#fff}div{overflow-x:auto}
.numbers{white-space:nowrap}
pre{white-space:pre-wrap;font-size:.8rem;color:light-dark(#444,#bbb)}
@media(max-width:45rem){.output_png img{max-width:none}}"""
# The browser enforces it: no script, no connection, no frame, no picture but those inside.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action"
    " 'none'"
)


def page_head(title: str) -> str:
    """The beginning of a page, up to its text."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f'<meta http-equiv=Content-Security-Policy content="{POLICY}">'
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )


def picture(figure: Figure, alt: str) -> str:
    """A figure as an image of a page, and closed. It is drawn once; savefig draws twice."""
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content)
    plt.close(figure)
    data = b64encode(content.getvalue()).decode()
    image = f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
    return f"<div class=output_png>{image}</div>"
